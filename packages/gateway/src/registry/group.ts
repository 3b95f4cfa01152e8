import { didYouMean } from '../config/did-you-mean.ts';
import { readGroupPattern } from '../config/groups.ts';
import { quoted, someOf } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Owner } from './names.ts';
import { ToolPatterns } from './tool-filter.ts';

/** A pattern of a group that matches no tool of its server. */
interface UnmatchedInGroup {
  readonly group: string;
  readonly serverKey: string;
  readonly pattern: string;
  /** The tool that was probably meant. */
  readonly nearest: string | undefined;
  readonly listed: readonly string[];
}

/** Says which pattern matches nothing, and what to write instead. */
export function describeUnmatched({ group, serverKey, pattern, nearest, listed }: UnmatchedInGroup): string {
  const hint = nearest === undefined ? `it lists ${someOf(listed)}` : `did you mean "${quoted(nearest)}"?`;
  return `Group '${group}' names "${pattern}" of server '${serverKey}', but the server lists no such tool; ${hint}`;
}

/** Tools among which the nearest to a pattern is looked for. */
const MOST_COMPARED = 1000;

/** A part of all that is offered: whole servers, and tools of other servers by the names that these give them. */
export class Group {
  readonly name: string;
  /** A text that is equal for groups that say the same. */
  readonly id: string;
  readonly #whole: ReadonlySet<string>;
  readonly #tools: ReadonlyMap<string, ToolPatterns>;
  /** Servers whose tools were compared with the patterns. */
  readonly #compared = new Set<string>();

  constructor(name: string, patterns: readonly string[], serverKeys: readonly string[]) {
    const read = patterns.flatMap((pattern) => readGroupPattern(pattern, serverKeys) ?? []);
    const tools = new Map<string, string[]>();
    for (const { serverKey, tools: pattern } of read)
      if (pattern !== undefined) tools.set(serverKey, [...(tools.get(serverKey) ?? []), pattern]);
    this.name = name;
    this.id = JSON.stringify(read);
    this.#whole = new Set(
      read.flatMap(({ serverKey, tools: pattern }) => (pattern === undefined ? serverKey : [])),
    );
    this.#tools = new Map(Array.from(tools, ([key, list]) => [key, new ToolPatterns('groups', list)]));
  }

  /** Returns true for a server of which the group has anything. */
  hasServer(serverKey: string): boolean {
    return this.#whole.has(serverKey) || this.#tools.has(serverKey);
  }

  /** Returns true for a server that the group names whole: prompts, resources and methods of its own belong to those alone. */
  isWhole(serverKey: string): boolean {
    return this.#whole.has(serverKey);
  }

  /** `name` is the one that the server gives the tool. */
  hasTool({ serverKey, name }: Owner): boolean {
    return this.#whole.has(serverKey) || this.#tools.get(serverKey)?.has(name) === true;
  }

  /** Returns the patterns that match no tool of their server; each server is compared once, when it lists something. */
  unmatched(upstreams: Iterable<Upstream>): UnmatchedInGroup[] {
    return Array.from(upstreams).flatMap(({ serverKey, catalogue: { tools } }) => {
      const patterns = this.#tools.get(serverKey);
      if (patterns === undefined || tools.items.length === 0 || this.#compared.has(serverKey)) return [];
      this.#compared.add(serverKey);
      const listed = tools.items.map(({ key }) => key);
      const compared = listed.slice(0, MOST_COMPARED);
      return patterns.unmatched(listed).map(({ pattern }) => ({
        group: this.name,
        serverKey,
        pattern,
        nearest: didYouMean(pattern, compared),
        listed,
      }));
    });
  }
}
