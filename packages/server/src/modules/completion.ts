import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { MaybePromise } from './tool-module.ts';

/** Suggests values for an argument from its beginning; `others` are the arguments that the user has filled in already. */
export type Complete = (
  value: string,
  others: Readonly<Record<string, string>>,
) => MaybePromise<readonly string[]>;

type Suggestions = Readonly<Record<string, Complete>> | undefined;

/** Finds the suggestions of a prompt's name or a template's URI; `found` tells an unknown one from one without any. */
export type FindSuggestions = (key: string) => { readonly found: boolean; readonly complete?: Suggestions };

interface Finders {
  prompt?: FindSuggestions;
  resource?: FindSuggestions;
}

// Prompts and resources are registered apart, but one handler of their server answers for both.
const findersOf = new WeakMap<Server, Finders>();

/** Answers `completion/complete` for one kind of modules. */
export function offerCompletion(server: Server, kind: 'prompt' | 'resource', find: FindSuggestions): void {
  const finders = findersOf.get(server) ?? newFinders(server);
  finders[kind] = find;
}

function newFinders(server: Server): Finders {
  const finders: Finders = {};
  findersOf.set(server, finders);
  server.assertCanSetRequestHandler('completion/complete');
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument, context } }) => {
    const known = ref.type === 'ref/prompt' ? finders.prompt?.(ref.name) : finders.resource?.(ref.uri);
    if (known?.found !== true) throw unknownReference(ref.type === 'ref/prompt' ? ref.name : ref.uri);
    const complete = ownValue(known.complete, argument.name);
    const values = complete === undefined ? [] : await complete(argument.value, context?.arguments ?? {});
    return { completion: page(values) };
  });
  return finders;
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
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `'${key}' not found: it has nothing to complete`);
}
