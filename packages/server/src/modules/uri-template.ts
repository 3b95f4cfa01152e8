import { UriTemplate } from '@modelcontextprotocol/server';
import type { TemplateVariables } from './resource-module.ts';

/** Reads the variables of a template out of a URI; undefined where the URI does not fit. */
export type MatchUri = (uri: string) => TemplateVariables | undefined;

/** Compiles a template, and names the mistake in one that cannot be. */
export function compileTemplate(template: string): MatchUri {
  const [, path = template, query = ''] = /^([^?]*)((?:\{\?[^{}]*\})(?:\{&[^{}]*\})*)$/.exec(template) ?? [];
  const matchPath = compilePath(path);
  if (query === '') return (uri) => (uri.length > LONGEST_URI ? undefined : matchPath(uri));
  const names = variablesIn(query);
  return (uri) => {
    const [address = '', ...search] = uri.length > LONGEST_URI ? [] : uri.split('?');
    const found = matchPath(address);
    return found && { ...found, ...readQuery(search.join('?'), names) };
  };
}

// Templates with several greedy variables take quadratic time.
const LONGEST_URI = 4096;

interface VariableName {
  readonly name: string;
  readonly isList: boolean;
}

function variablesIn(template: string): VariableName[] {
  const expressions = [...template.matchAll(/\{[+#./?&]?([^{}]+)\}/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  return expressions.map((name) => ({ name: name.replace('*', '').trim(), isList: name.endsWith('*') }));
}

function compilePath(path: string): MatchUri {
  const several = /\{[^{}]*,[^{}]*\}/.exec(path)?.[0];
  if (several !== undefined) throw new TypeError(`${several} has several names: give each its own braces`);
  const compiled = new UriTemplate(path);
  const names = variablesIn(path);
  return (uri) => {
    const found = compiled.match(uri);
    return found === null ? undefined : decoded(found, names);
  };
}

function decoded(
  found: Readonly<Record<string, string | string[]>>,
  names: readonly VariableName[],
): TemplateVariables | undefined {
  try {
    const entries = names.map(({ name, isList }) => {
      const parts = [found[name] ?? []].flat().map(decodeURIComponent);
      return [name, isList ? parts : parts.join(',')] as const;
    });
    return Object.fromEntries(entries);
  } catch {
    // A percent sign without its digits: no client made this URI from the template.
    return undefined;
  }
}

/** Reads a query in any order: the SDK's pattern knows that of the template only, and takes no query with a part missing. */
function readQuery(search: string, names: readonly VariableName[]): TemplateVariables {
  const query = new URLSearchParams(search);
  const given = names.filter(({ name }) => query.has(name));
  return Object.fromEntries(
    given.map(({ name, isList }) => [
      name,
      isList ? query.getAll(name).flatMap((value) => value.split(',')) : (query.get(name) ?? ''),
    ]),
  );
}
