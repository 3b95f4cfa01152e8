import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source-files.ts';

const page = readFileSync(join(root, 'packages', 'server', 'README.md'), 'utf8');

/** A piece of code of the README, under the name of its first comment. */
export interface Example {
  readonly name: string;
  readonly code: string;
}

/** The TypeScript examples of the README of `@weir/server`. */
export const readmeExamples: readonly Example[] = Array.from(
  page.matchAll(/^```ts\n\/\/ ([a-z]+)\.ts\n(.*?)^```$/gmsu),
  ([, name = '', code = '']) => ({ name, code }),
);

/** Number of TypeScript examples, also of those without a name. */
export const exampleCount: number = page.match(/^```ts$/gmu)?.length ?? 0;

/** Returns the output that the comments of an example promise; undefined for a line that differs each time. */
export function promisedOutput({ code }: Example): (string | undefined)[] {
  return Array.from(code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gmu), ([, comment = '']) =>
    comment.startsWith('such as ') ? undefined : comment,
  );
}

/** A row of a table of the README: a name, and the file of the test that proves it. */
interface ProvedName {
  readonly name: string;
  /** The cell beside the name, without the marks of code. */
  readonly signature: string;
  readonly test: string;
}

/** The rows of all tables whose last column is a test. */
export const provedNames: readonly ProvedName[] = Array.from(
  page.matchAll(/^\| `([\w-]+)`\s*\| (.*?)\s*\| `([\w/.-]+\.test\.ts)`\s*\|$/gmu),
  ([, name = '', cells = '', test = '']) => ({
    name,
    signature: (/^`(.*?)`/u.exec(cells)?.[1] ?? cells).replaceAll('\\|', '|'),
    test,
  }),
);

/** A row of the table of limits. */
interface Limit {
  readonly value: string;
  /** Names of the options that set it. */
  readonly options: readonly string[];
}

/** The limits of the README that an option sets. */
export const limits: readonly Limit[] = Array.from(
  (/^## Limits$(.*?)^## /msu.exec(page)?.[1] ?? '').matchAll(
    /^\| [^|]+ \| ([^|]*\d[^|]*) \| (`[^|]*) \|$/gmu,
  ),
  ([, value = '', cell = '']) => ({
    value: value.replaceAll(/(?<=\d),(?=\d)/gu, ''),
    options: Array.from(cell.matchAll(/`(?:\w+\.)?(\w+)`/gu), ([, option = '']) => option),
  }),
);
