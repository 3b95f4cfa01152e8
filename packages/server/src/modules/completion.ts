import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';
import { protocolErrorOf } from './protocol-error-of.ts';
import { quoted } from './quoted.ts';
import type { MaybePromise } from './tool-module.ts';

/** Suggests values for an argument from its beginning; `others` are the arguments that the user has filled in already. */
export type Complete = (
  value: string,
  others: Readonly<Record<string, string>>,
) => MaybePromise<readonly string[]>;

type Suggestions = Readonly<Record<string, Complete>> | undefined;

/** Finds the suggestions of a prompt's name or a template's URI; `found` tells an unknown one from one without any. */
type FindSuggestions = (key: string) => { readonly found: boolean; readonly complete?: Suggestions };

/** Modules of one kind, and the logger that they were registered with. */
export interface CompletionSource {
  readonly find: FindSuggestions;
  readonly logger: Logger | undefined;
}

interface Sources {
  prompt?: CompletionSource;
  resource?: CompletionSource;
}

// Prompts and resources are registered apart, but one handler of their server answers for both.
const sourcesOf = new WeakMap<Server, Sources>();

/** Answers `completion/complete` for one kind of modules. */
export function offerCompletion(server: Server, kind: 'prompt' | 'resource', source: CompletionSource): void {
  const sources = sourcesOf.get(server) ?? newSources(server);
  sources[kind] = source;
}

function newSources(server: Server): Sources {
  const sources: Sources = {};
  sourcesOf.set(server, sources);
  server.assertCanSetRequestHandler('completion/complete');
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context } }, extra) => {
    const [source, key] =
      ref.type === 'ref/prompt' ? [sources.prompt, ref.name] : [sources.resource, ref.uri];
    const known = source?.find(key);
    if (known?.found !== true) throw unknownReference(key);
    try {
      const complete = ownValue(known.complete, argument.name);
      const values = await complete?.(argument.value, context?.arguments ?? {});
      return { completion: page(complete === undefined ? [] : texts(values, argument.name)) };
    } catch (error) {
      if (extra.mcpReq.signal.aborted) throw error;
      throw protocolErrorOf(error, source?.logger);
    }
  });
  return sources;
}

function texts(values: unknown, argument: string): string[] {
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw new TypeError(`The suggestions for '${argument}' are not a list of texts: return one from complete`);
}

// The protocol allows no more in one answer.
const MAX_VALUES = 100;

function page(values: readonly string[]): { values: string[]; total: number; hasMore: boolean } {
  return { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES };
}

function ownValue(suggestions: Suggestions, name: string): Complete | undefined {
  return suggestions !== undefined && Object.hasOwn(suggestions, name) ? suggestions[name] : undefined;
}

function unknownReference(key: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `'${quoted(key)}' not found: it has nothing to complete`,
  );
}
