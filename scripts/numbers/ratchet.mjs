// @ts-check
// Counts that may only go down: `tests/repository/ratchet.json` holds the present ones, and tests/repository/architecture.test.ts compares.
import { basename } from 'node:path/posix';
import { breachesIn } from './comments.mjs';
import { folderOf, isGenerated } from './sources.mjs';
import { badTitlesIn } from './titles.mjs';

/** @typedef {import('./sources.mjs').SourceFile} SourceFile */
/** @typedef {Record<string, number>} Counts */
/** @typedef {Record<'comments' | 'titles' | 'fileNames' | 'typeNames', Counts>} Table Sentences and titles by folder; names that occur twice or more. */
/** @typedef {Record<string, string[]>} Paths Paths of the files that use a name, by `package: name`. */

const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum|const enum) (\w+)/gm;

/**
 * Counts what the table lists; a count of zero, and a name that occurs once, are left out.
 * @param {readonly SourceFile[]} files
 * @param {readonly SourceFile[]} tests
 * @returns {Table}
 */
export function countAll(files, tests = []) {
  const { fileNames, typeNames } = repeatedNames(files);
  return {
    comments: countComments(files),
    titles: tally(tests.flatMap((file) => badTitlesIn(file).map(({ path }) => folderOf(path)))),
    fileNames: counted(fileNames),
    typeNames: counted(typeNames),
  };
}

/**
 * Finds the names of files and types that occur twice or more within a package.
 * @param {readonly SourceFile[]} files
 * @returns {{ fileNames: Paths; typeNames: Paths }}
 */
export function repeatedNames(files) {
  return {
    fileNames: repeated(files, ({ path }) => [basename(path, '.ts')]),
    typeNames: repeated(files, ({ text }) => typesIn(text)),
  };
}

/** @param {readonly SourceFile[]} files */
function countComments(files) {
  const written = files.filter(({ path }) => !isGenerated(path));
  return tally(written.flatMap((file) => breachesIn(file).map(({ path }) => folderOf(path))));
}

/** @param {string} text */
function typesIn(text) {
  return [...new Set([...text.matchAll(TYPE)].map(([, name = '']) => name))];
}

/**
 * @param {readonly SourceFile[]} files
 * @param {(file: SourceFile) => string[]} namesIn
 * @returns {Paths}
 */
function repeated(files, namesIn) {
  /** @type {Map<string, string[]>} */
  const paths = new Map();
  for (const file of files)
    for (const name of namesIn(file)) {
      const key = `${file.path.split('/')[1]}: ${name}`;
      paths.set(key, [...(paths.get(key) ?? []), file.path]);
    }
  const several = [...paths].filter(([, users]) => users.length > 1);
  return Object.fromEntries(several.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** @param {Paths} paths */
function counted(paths) {
  return Object.fromEntries(Object.entries(paths).map(([name, users]) => [name, users.length]));
}

/**
 * Counts each name, sorted.
 * @param {readonly string[]} names
 * @returns {Counts}
 */
function tally(names) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const name of [...names].sort()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/**
 * Lists every count that differs from the table's.
 * @param {Counts} present
 * @param {Counts} table
 */
export function differences(present, table) {
  const keys = [...new Set([...Object.keys(present), ...Object.keys(table)])].sort();
  return keys.flatMap((key) => {
    const [now, allowed] = [present[key] ?? 0, table[key] ?? 0];
    if (now === allowed) return [];
    return now > allowed
      ? [`${key}: ${now}, above the ${allowed} of tests/repository/ratchet.json`]
      : [
          `${key}: ${now}, below the ${allowed} of tests/repository/ratchet.json: run npm run numbers -- --lower`,
        ];
  });
}

/** @param {Counts} counts */
export function total(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
