import type { Era } from '../protocol/eras.ts';
import { definitionOf, type Listed, type ToolSchema } from '../upstream/catalogue/catalogue.ts';
import { isLegacyOutputSchema } from '../upstream/catalogue/validate-definition.ts';
import type { ServerClient, Upstream } from '../upstream/upstream.ts';
import { findMember, objectValue, readMembers, stringValue, valueText } from '../wire/json/members.ts';
import { changeMembers, encode, replaceValue, type Edit } from '../wire/json/splice.ts';
import { appUris } from './app-uris.ts';
import type { PublicUri } from './uris.ts';

/** Server and definition of a public name. */
export interface ToolRegistryEntry<Client extends ServerClient = ServerClient> {
  readonly client: Client;
  readonly serverKey: string;
  readonly originalName: string;
  /** The definition under its public name, parsed when first looked at. */
  readonly schema: ToolSchema;
}

interface Published {
  readonly serverKey: string;
  readonly publicName: string;
  readonly publicUri?: PublicUri | undefined;
}

const NO_CHANGE: readonly Edit[] = [];

/** One entry of the registry: a tool, a prompt, a resource or a template, and the server that has it. */
export class Route<Client extends ServerClient = Upstream> implements ToolRegistryEntry<Client> {
  readonly upstream: Client;
  /** The same server, under the name that the published type of an entry has for it. */
  readonly client: Client;
  readonly serverKey: string;
  readonly originalName: string;
  readonly publicName: string;
  /** The definition under its public name, parsed when first read. */
  declare readonly schema: ToolSchema;
  // An own property of each entry, so that a copy by spread has it; one getter for all keeps their shapes equal.
  static readonly #SCHEMA = {
    enumerable: true,
    get(this: Route<ServerClient>): ToolSchema {
      return this.#readSchema();
    },
  };
  readonly #listed: Listed;
  readonly #publicUri: PublicUri | undefined;
  #originalText: string | undefined;
  #schema: ToolSchema | undefined;
  #isRepeatable: boolean | undefined;
  #mustBeTask: boolean | undefined;
  #legacyEdits: readonly Edit[] | undefined;

  constructor(upstream: Client, listed: Listed, { serverKey, publicName, publicUri }: Published) {
    this.upstream = upstream;
    this.client = upstream;
    this.serverKey = serverKey;
    this.originalName = listed.ownKey ?? listed.key;
    this.publicName = publicName;
    this.#listed = listed;
    this.#publicUri = publicUri;
    Object.defineProperty(this, 'schema', Route.#SCHEMA);
  }

  /** The original name as JSON, one character a byte, ready to be spliced into a request. */
  get originalText(): string {
    const { page, keyAt, keyEnd } = this.#listed;
    this.#originalText ??= page.toString('latin1', keyAt, keyEnd);
    return this.#originalText;
  }

  get isRepeatable(): boolean {
    this.#isRepeatable ??= isRepeatable(this.#listed);
    return this.#isRepeatable;
  }

  /** True where clients see the same definition under the same name. */
  isLike(other: Route): boolean {
    const [one, another] = [this.#listed, other.#listed];
    if (this.publicName !== other.publicName || one.description !== another.description) return false;
    return one === another || definitionOf(one).equals(definitionOf(another));
  }

  /** True where clients see the same bytes, and calls reach the same server. */
  isEqual(other: Route): boolean {
    if (this.serverKey !== other.serverKey || !this.isLike(other)) return false;
    // Only URIs that had to be told apart may differ still, and few servers have such.
    const isAsWritten = this.#publicUri === undefined && other.#publicUri === undefined;
    return isAsWritten || this.definition().equals(other.definition());
  }

  /** True for a tool that can be called as a task alone. */
  get mustBeTask(): boolean {
    this.#mustBeTask ??= mustBeTask(this.#listed);
    return this.#mustBeTask;
  }

  /** Reads what every list asks of it, so that no list has to. */
  prepare(): void {
    this.#mustBeTask ??= mustBeTask(this.#listed);
  }

  #readSchema(): ToolSchema {
    this.#schema ??= JSON.parse(this.definition().toString('utf8')) as ToolSchema;
    return this.#schema;
  }

  /** The definition as the server wrote it, but for its name, the URIs that had to be told apart and what the config overrides. */
  definition(): Buffer {
    const { page } = this.#listed;
    const text = this.definitionText((from, until) => page.toString('latin1', from, until));
    return Buffer.from(text, 'latin1');
  }

  /** The bytes that hold the definition, and those of others. */
  get page(): Buffer {
    return this.#listed.page;
  }

  /** Bytes of the definition, about: what is replaced counts in both forms. */
  get size(): number {
    const { at, end, description = '' } = this.#listed;
    return end - at + this.publicName.length + description.length;
  }

  /** The same as `definition`, one character a byte, put together from parts of the page. */
  definitionText(part: (from: number, until: number) => string, cuts: readonly Edit[] = NO_CHANGE): string {
    const { at, end, keyAt, keyEnd, description } = this.#listed;
    if (this.#publicUri === undefined && cuts.length === 0 && description === undefined) {
      // Nearly all definitions: the name is all that changes.
      if (this.originalName === this.publicName) return part(at, end);
      return part(at, keyAt) + encode(this.publicName) + part(keyEnd, end);
    }
    let definition = '';
    let done = at;
    for (const { start, end: until, text } of this.#changes(cuts)) {
      definition += part(done, start) + text;
      done = until;
    }
    return definition + part(done, end);
  }

  /** Edits without which legacy clients drop a whole list; none for nearly all definitions. */
  get legacyEdits(): readonly Edit[] {
    this.#legacyEdits ??= legacyEdits(this.upstream as { readonly era?: Era }, this.#listed);
    return this.#legacyEdits;
  }

  /** In the order in which they stand. */
  #changes(cuts: readonly Edit[]): readonly Edit[] {
    const { keyAt, keyEnd } = this.#listed;
    const rename =
      this.originalName === this.publicName
        ? NO_CHANGE
        : [{ start: keyAt, end: keyEnd, text: encode(this.publicName) }];
    const uris = appUris(this.#listed).flatMap(({ uri, start, end }) => {
      const text = this.#publicUri?.(uri);
      return text === undefined ? [] : [{ start, end, text: encode(text) }];
    });
    // Of edits at one place the first stays first: a description that was missing goes before what is cut behind the name.
    return [...rename, ...descriptionEdits(this.#listed), ...uris, ...cuts].sort((a, b) => a.start - b.start);
  }
}

/** Returns the edit that gives a definition the description of the config; one without any gets it behind its name. */
function descriptionEdits({ page, at, keyEnd, description }: Listed): readonly Edit[] {
  const tool = description === undefined ? undefined : readMembers(page, at);
  if (tool === undefined) return NO_CHANGE;
  const text = encode(description);
  const member = findMember(tool, 'description');
  return member < 0
    ? [{ start: keyEnd, end: keyEnd, text: `,"description":${text}` }]
    : [replaceValue(tool, member, text)];
}

/** A tool that says of itself that it changes nothing, or nothing more when it is called twice. */
function isRepeatable({ page, at }: Listed): boolean {
  const definition = readMembers(page, at);
  const annotations = definition && objectValue(definition, 'annotations');
  if (annotations === undefined) return false;
  return REPEATABLE.some((hint) => valueText(annotations, hint) === 'true');
}

const REPEATABLE = ['readOnlyHint', 'idempotentHint'];

const TASK_SUPPORT = Buffer.from('taskSupport');
/** Pages of lists in which some tool speaks of tasks; of most none does, and no definition is looked into. */
const speakOfTasks = new WeakMap<Buffer, boolean>();

function mustBeTask({ page, at }: Listed): boolean {
  const isSpokenOf = speakOfTasks.get(page) ?? page.includes(TASK_SUPPORT);
  speakOfTasks.set(page, isSpokenOf);
  if (!isSpokenOf) return false;
  const definition = readMembers(page, at);
  const execution = definition && objectValue(definition, 'execution');
  return execution !== undefined && stringValue(execution, 'taskSupport') === 'required';
}

const OUTPUT_SCHEMA = Buffer.from('"outputSchema"');

/** Pages with an output schema somewhere: one search through a page costs less than a look into each tool. */
const hasOutputSchemas = new WeakMap<Buffer, boolean>();

/**
 * Returns the edits that cut out an output schema which only the modern era knows: clients of the earlier one drop the
 * whole list for one that is not of an object.
 */
function legacyEdits({ era }: { readonly era?: Era }, { page, at }: Listed): readonly Edit[] {
  if (era !== 'modern' || !mayHaveOutputSchema(page)) return NO_CHANGE;
  const tool = readMembers(page, at);
  const m = tool === undefined ? -1 : findMember(tool, 'outputSchema');
  if (tool === undefined || m < 0) return NO_CHANGE;
  const schema = page.toString('utf8', tool.flat[m + 2], tool.flat[m + 3]);
  return isLegacyOutputSchema(JSON.parse(schema)) ? NO_CHANGE : changeMembers(tool, ['outputSchema'], '');
}

function mayHaveOutputSchema(page: Buffer): boolean {
  const isHeld = hasOutputSchemas.get(page) ?? page.includes(OUTPUT_SCHEMA);
  hasOutputSchemas.set(page, isHeld);
  return isHeld;
}
