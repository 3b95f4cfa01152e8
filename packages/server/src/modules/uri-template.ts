import { UriTemplate } from '@modelcontextprotocol/server';
import type { TemplateVariables } from './resource-module.ts';

/** Reads the variables of a template out of a URI; undefined where the URI does not fit. */
export type MatchUri = (uri: string) => TemplateVariables | undefined;

/** Compiles a template, and names the mistake in one that cannot be. */
export function compileTemplate(template: string): MatchUri {
  const compiled = new UriTemplate(template);
  const lists = starred(template);
  return (uri) => {
    const found = uri.length > LONGEST_URI ? null : compiled.match(uri);
    return found === null ? undefined : decodeAll(found, lists);
  };
}

// Templates with several greedy variables take quadratic time.
const LONGEST_URI = 4096;

function starred(template: string): ReadonlySet<string> {
  const names = [...template.matchAll(/\{[+#./?&]?([^{}]+)\}/g)].flatMap(([, list = '']) => list.split(','));
  return new Set(names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1).trim()));
}

function decodeAll(
  found: Readonly<Record<string, string | string[]>>,
  lists: ReadonlySet<string>,
): TemplateVariables | undefined {
  try {
    return Object.fromEntries(
      Object.entries(found).map(([name, value]) => [name, decoded(value, lists.has(name))]),
    );
  } catch {
    // A percent sign without its digits: no client made this URI from the template.
    return undefined;
  }
}

function decoded(value: string | string[], isList: boolean): string | string[] {
  if (!isList) return [value].flat().map(decodeURIComponent).join(',');
  return [value].flat().map(decodeURIComponent);
}
