#!/usr/bin/env node
// @ts-check
// `npm run numbers`: sizes, names, comments, titles of tests and the path of a call, as Markdown.
//   --root PATH        another checkout that has been built; several, `--root old=PATH --root new=PATH`, become columns
//   --list FOLDER      the sentences of comments and the titles of tests that break the rules there, instead
//   --lower            writes the counts of today into tests/repository/ratchet.json, if none of them has grown, instead
//   --dispatch, --id   names of functions between which calls are counted, where they are not those of today
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCallPath } from './numbers/call-path.mjs';
import { breachesIn } from './numbers/comments.mjs';
import { countAll, differences, repeatedNames, total } from './numbers/ratchet.mjs';
import { sizesOf } from './numbers/sizes.mjs';
import { folderOf, isGenerated, readSources, readTests } from './numbers/sources.mjs';
import { badTitlesIn } from './numbers/titles.mjs';
import { root, runMain } from './steps.mjs';

/** @typedef {Awaited<ReturnType<typeof measure>>} Numbers */
/** @typedef {import('./numbers/ratchet.mjs').Counts} Counts */
/** @typedef {import('./numbers/ratchet.mjs').Paths} Paths */

const WIDEST = 10;
const ratchetFile = join(root, 'tests', 'repository', 'ratchet.json');
const { values } = parseArgs({
  options: {
    root: { type: 'string', multiple: true, default: [root] },
    list: { type: 'string' },
    lower: { type: 'boolean', default: false },
    dispatch: { type: 'string', default: 'dispatch' },
    id: { type: 'string', multiple: true, default: ['expect/add', 'onResponse/add'] },
  },
});

await runMain(async () => {
  if (values.list !== undefined) return list(values.list);
  if (values.lower) return lower();
  const all = [];
  for (const place of values.root) all.push(await measure(place));
  print(all);
});

/** @param {string} place A path, or `heading=path`. */
async function measure(place) {
  const [path = '', heading = basename(resolve(path))] = place.split('=').reverse();
  const sources = readSources(resolve(path));
  const written = sources.filter((file) => !isGenerated(file.path));
  const sizes = written.map(sizesOf);
  return {
    heading,
    counts: countAll(sources, readTests(resolve(path))),
    repeated: repeatedNames(sources),
    fileLines: written.map(({ text }) => text.trimEnd().split('\n').length),
    functionLines: sizes.flatMap(({ functions }) => functions),
    classes: sizes.flatMap(({ classes }) => classes),
    folders: sources.map((file) => folderOf(file.path)),
    call: await measureCallPath(resolve(path), { dispatch: values.dispatch, ids: values.id }),
  };
}

/** @param {Numbers[]} all */
function print(all) {
  table('number', all, [
    ['files', ({ folders }) => folders.length],
    ['lines', ({ fileLines }) => fileLines.reduce((sum, lines) => sum + lines, 0)],
    ['lines per file: median, p95', ({ fileLines }) => spread(fileLines)],
    ['functions', ({ functionLines }) => functionLines.length],
    ['lines per function: median, p95', ({ functionLines }) => spread(functionLines)],
    ['methods and accessors of the widest classes', ({ classes }) => widest(classes)],
    ['file names used twice within a package', ({ counts }) => names(counts.fileNames)],
    ['type names used twice within a package', ({ counts }) => names(counts.typeNames)],
    ['sentences of comments to rewrite', ({ counts }) => total(counts.comments)],
    ['titles of tests to rewrite', ({ counts }) => total(counts.titles)],
    ['files on the path of a call', ({ call }) => call.files.length],
    ['function calls for one of them, about', ({ call }) => call.functions],
    ['calls between dispatch and the id', ({ call }) => `${call.stack.length}: ${call.stack.join(' → ')}`],
  ]);
  const folders = [...new Set(all.flatMap((numbers) => numbers.folders))].sort();
  table('files per folder (sentences to rewrite)', all, folders.map(folderRow));
  for (const { heading, call, repeated } of all) {
    console.log(`Path of a call in ${heading}: ${call.files.join(', ')}\n`);
    listNames(`File names used twice in ${heading}`, repeated.fileNames);
    listNames(`Type names used twice in ${heading}`, repeated.typeNames);
  }
}

/**
 * @param {string} folder
 * @returns {Row}
 */
function folderRow(folder) {
  return [
    folder,
    (numbers) => {
      const files = numbers.folders.filter((name) => name === folder).length;
      return files === 0 ? '–' : `${files} (${numbers.counts.comments[folder] ?? 0})`;
    },
  ];
}

/** @typedef {[label: string, cell: (numbers: Numbers) => string | number]} Row */

/**
 * @param {string} label
 * @param {Numbers[]} all
 * @param {Row[]} rows
 */
function table(label, all, rows) {
  const row = (/** @type {(string | number)[]} */ cells) => console.log(`| ${cells.join(' | ')} |`);
  row([label, ...all.map(({ heading }) => heading)]);
  row(['---', ...all.map(() => '---')]);
  for (const [name, cell] of rows) row([name, ...all.map(cell)]);
  console.log('');
}

/** @param {number[]} lines */
function spread(lines) {
  const sorted = lines.toSorted((one, other) => one - other);
  const at = (/** @type {number} */ part) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  return `${at(0.5)}, ${at(0.95)}`;
}

/** @param {{ name: string; methods: number }[]} classes */
function widest(classes) {
  const sorted = classes.toSorted((one, other) => other.methods - one.methods);
  return sorted
    .slice(0, WIDEST)
    .map(({ name, methods }) => `${name}: ${methods}`)
    .join(', ');
}

/** @param {Counts} counts */
function names(counts) {
  const entries = Object.entries(counts).map(([name, count]) => `${name} ×${count}`);
  return entries.length === 0 ? '0' : `${entries.length}: ${entries.join(', ')}`;
}

/**
 * @param {string} title
 * @param {Paths} paths
 */
function listNames(title, paths) {
  const lines = Object.entries(paths).map(([name, users]) => `- ${name}: ${users.join(', ')}`);
  if (lines.length > 0) console.log(`${title}:\n\n${lines.join('\n')}\n`);
}

/** @param {string} folder */
function list(folder) {
  const isBelow = (/** @type {{ path: string }} */ { path }) => path.startsWith(folder.replace(/\/?$/, '/'));
  for (const { path, line, rule, sentence } of readSources(root).filter(isBelow).flatMap(breachesIn))
    console.log(`${path}:${line} (${rule}) ${sentence}`);
  for (const { path, line, rule, title } of readTests(root).filter(isBelow).flatMap(badTitlesIn))
    console.log(`${path}:${line} (${rule}) ${title}`);
}

/** Comments and titles may move from folder to folder; their total may not grow, and no name may be used more often. */
function lower() {
  const present = countAll(readSources(root), readTests(root));
  /** @type {import('./numbers/ratchet.mjs').Table} */
  const { comments, titles, fileNames, typeNames } = JSON.parse(readFileSync(ratchetFile, 'utf8'));
  const grown = [
    ...differences(present.fileNames, fileNames),
    ...differences(present.typeNames, typeNames),
    ...differences({ comments: total(present.comments) }, { comments: total(comments) }),
    ...differences({ titles: total(present.titles) }, { titles: total(titles) }),
  ].filter((text) => text.includes('above'));
  if (grown.length > 0) throw new Error(`Counts have grown:\n${grown.join('\n')}`);
  writeFileSync(ratchetFile, `${JSON.stringify(present, undefined, 2)}\n`);
}
