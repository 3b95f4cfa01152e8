import { compilePath, type FoundVariable } from './match-path.ts';
import type { TemplateVariables } from './resource-module.ts';
import { parseTemplate, type TemplateVariable } from './template-parts.ts';

/** Reads the variables of a template out of a URI; undefined where the URI does not fit. */
export type MatchUri = (uri: string) => TemplateVariables | undefined;

/** Compiles a template, and names the mistake in one that cannot be. */
export function compileTemplate(template: string): MatchUri {
  const [, path = template, query = ''] = /^([^?]*)((?:\{\?[^{}]*\})(?:\{&[^{}]*\})*)$/.exec(template) ?? [];
  const findIn = compilePath(parseTemplate(path));
  const matchPath = (address: string): TemplateVariables | undefined => decoded(findIn(address));
  if (query === '') return (uri) => (uri.length > LONGEST_URI ? undefined : matchPath(uri));
  const names = parseTemplate(query).flatMap((part) => (typeof part === 'string' ? [] : part.variables));
  return (uri) => {
    const [address = '', ...search] = uri.length > LONGEST_URI ? [] : uri.split('?');
    const found = matchPath(address);
    return found && { ...found, ...readQuery(search.join('?'), names) };
  };
}

/** Characters of a URI that are compared with templates: each of them reads it again. */
const LONGEST_URI = 4096;

function decoded(found: readonly FoundVariable[] | undefined): TemplateVariables | undefined {
  try {
    return found && Object.fromEntries(found.map(({ name, ...value }) => [name, decodedValue(value)]));
  } catch {
    // A percent sign without its digits: no client made this URI from the template.
    return undefined;
  }
}

function decodedValue({ value, isList }: Omit<FoundVariable, 'name'>): string | string[] {
  return isList ? value.split(',').map(decodeURIComponent) : decodeURIComponent(value);
}

/** Reads a query in any order: a pattern would know that of the template only, and take no query with a part missing. */
function readQuery(search: string, names: readonly TemplateVariable[]): TemplateVariables {
  const query = new URLSearchParams(search);
  const given = names.filter(({ name }) => query.has(name));
  return Object.fromEntries(
    given.map(({ name, isList }) => [
      name,
      isList ? query.getAll(name).flatMap((value) => value.split(',')) : (query.get(name) ?? ''),
    ]),
  );
}
