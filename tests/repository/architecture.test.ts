import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import * as server from '@weir/server';
import { describe, expect, test } from 'vitest';
import { breachesIn } from '../../scripts/numbers/comments.mjs';
import { countAll, differences, type Table } from '../../scripts/numbers/ratchet.mjs';
import { badTitlesIn } from '../../scripts/numbers/titles.mjs';
import { type SourceFile, sourceFiles } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

// Allowed imports. A package not listed here may not exist; `outside` has the dependencies that users install with it.
const packages: Record<string, { name: string; siblings: string[]; outside: string[] }> = {
  'packages/server': {
    name: '@weir/server',
    siblings: [],
    outside: ['@modelcontextprotocol/server', '@modelcontextprotocol/client', 'zod', 'openid-client'],
  },
  'packages/gateway': { name: '@weir/gateway', siblings: ['@weir/server'], outside: [] },
  'packages/cli': { name: 'mcp-weir', siblings: ['@weir/gateway'], outside: [] },
};

// The stages of the gateway, lowest first: each may import itself and what stands to its left.
const stages =
  'shorten ← errors ← log ← hash ← time ← wire ← protocol ← config ← state ← upstream ← registry ← call ← gateway ← front ← api ← admin ← index'.split(
    ' ← ',
  );

// The blocks of @weir/server, each of which can be used alone: those whose files it may import. `logger` is a type for all.
const blocks: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  results: [],
  config: [],
  store: [],
  access: [],
  modules: ['errors', 'results'],
  transport: ['access', 'modules'],
  oauth: ['errors', 'store', 'access'],
  files: ['errors', 'store', 'access'],
  testing: ['modules', 'transport'],
};

// Members of `process` that blocks use: facts about the machine, and the streams that are the default of stdio.
const membersOfProcess: Readonly<Record<string, readonly string[]>> = {
  'store/': ['platform', 'pid', 'kill', 'uptime', 'getuid', 'getBuiltinModule', 'once', 'off'],
  'transport/stdio-server.ts': ['stdin', 'stdout'],
  'transport/stderr-logger.ts': ['stderr'],
};

// Peers that a user need not install: loaded by the function that needs them, when it is called.
const optionalPeers = ['openid-client', 'express', '@modelcontextprotocol/client'];

// Read by the generator alone: zod must never reach a user's machine.
const buildTimeOnly = ['packages/gateway/src/config/schema.ts'];

// A fixture is a server one can see whole: half of them fit in forty lines, none is longer than two hundred.
const fixtureLines = { median: 40, most: 200 };

// Counts that may only go down. After a rewrite, a rename or a move, `npm run numbers -- --lower` writes them anew.
const ratchet = JSON.parse(readFileSync(new URL('ratchet.json', import.meta.url), 'utf8')) as Table;

// The template of `weir new` is a package of its user.
const sources = sourceFiles('packages', /\/src\/.*\.ts$/).filter(({ path }) => !path.includes('/template/'));
const tests = [...sources, ...sourceFiles('tests', /\.ts$/)].filter(({ path }) => isTest(path));
const present = countAll(
  sources.filter(({ path }) => !isTest(path)),
  tests,
);
const shipped = sources.filter(({ path }) => !isTest(path) && !buildTimeOnly.includes(path));

describe('the architecture', () => {
  test('every package is in the table of packages', () => {
    const folders = new Set(sources.map(({ path }) => packageOf(path)));
    expect([...folders].filter((folder) => packages[folder] === undefined)).toEqual([]);
  });

  test('packages import only the siblings and parts that the table grants', () => {
    expect(foreignImports(shipped)).toEqual([]);
  });

  test('no file imports a file of another package', () => {
    expect(deepImports(sources)).toEqual([]);
  });

  test('imports inside the gateway point to earlier stages', () => {
    expect(upwardImports(shipped)).toEqual([]);
  });

  test('shipped code does not import build-time modules', () => {
    expect(buildTimeImports(shipped)).toEqual([]);
  });

  test('blocks of the server package import only the blocks that the table grants', () => {
    expect(foreignBlocks(shipped)).toEqual([]);
  });

  test('ARCHITECTURE.md has the table of blocks', () => {
    const page = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('## Blocks of `@weir/server`');
    const rows = [...section.matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|/gm)].map(
      ([, block = '', imports = '']) => [block, [...imports.matchAll(/`(\w+)`/g)].map(([, name]) => name)],
    );
    expect(Object.fromEntries(rows)).toEqual(blocks);
  });

  verifies('KIT-SCOPE-1', 'blocks of the server package keep no state in modules', () => {
    expect(hiddenState(shipped)).toEqual([]);
  });

  verifies('KIT-SCOPE-1', 'blocks of the server package read no setting of the process', () => {
    expect(globalReads(shipped)).toEqual([]);
  });

  verifies('KIT-SCOPE-1', 'blocks of the server package load no optional peer before it is needed', () => {
    expect(eagerPeers(shipped)).toEqual([]);
  });

  verifies('KIT-SCOPE-1', 'the server package exports functions, and no class but errors', () => {
    expect(publicClasses(shipped)).toEqual([]);
    const others = Object.entries(server).filter(([, value]) => typeof value !== 'function');
    expect(others.map(([name]) => name)).toEqual([]);
  });

  verifies('AGG-QA-1', 'no source file uses the type any', () => {
    expect(anyTypes(sources)).toEqual([]);
  });

  test('ARCHITECTURE.md names existing files', () => {
    const page = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
    expect(missingFiles(page)).toEqual([]);
  });

  test('comments break the rules of plain English no more often than the table says', () => {
    expect(differences(present.comments, ratchet.comments)).toEqual([]);
  });

  test('titles of tests break the rules of plain English no more often than the table says', () => {
    expect(differences(present.titles, ratchet.titles)).toEqual([]);
  });

  test('a package uses a file name once, but for those in the table', () => {
    expect(differences(present.fileNames, ratchet.fileNames)).toEqual([]);
  });

  test('a package uses a type name once, but for those in the table', () => {
    expect(differences(present.typeNames, ratchet.typeNames)).toEqual([]);
  });

  test('fixtures stay below their line limits', () => {
    expect(largeFixtures(sourceFiles('tests/fixtures', /\.(mjs|js|ts|sh)$/))).toEqual([]);
  });
});

describe('rules of the architecture', () => {
  const planted = (path: string, text: string): SourceFile[] => [{ path: `packages/${path}`, text }];

  const breaches = (text: string): unknown[] => planted('gateway/src/wire/a.ts', text).flatMap(breachesIn);
  const badTitles = (text: string): unknown[] =>
    planted('gateway/src/wire/a.test.ts', text).flatMap(badTitlesIn);
  const repeated = countAll([
    ...planted('gateway/src/wire/a.ts', 'interface A {}\ntype B = 1;'),
    ...planted('gateway/src/call/a.ts', 'export abstract class A {}'),
    ...planted('cli/src/b.ts', 'export type A = 1;'),
  ]);

  test.each([
    [
      'an undeclared sibling',
      foreignImports(planted('gateway/src/wire/a.ts', "import { x } from 'mcp-weir';")),
    ],
    ['an outside package', foreignImports(planted('cli/src/main.ts', "const z = await import('zod');"))],
    ['a deep import', deepImports(planted('cli/src/main.ts', "import '@weir/gateway/src/errors.ts';"))],
    [
      'a path to a sibling',
      deepImports(planted('cli/src/main.ts', "export * from '../../gateway/src/errors.ts';")),
    ],
    [
      'an upward import',
      upwardImports(planted('gateway/src/wire/a.ts', "import type { X } from '../call/b.ts';")),
    ],
    ['a file in no stage', upwardImports(planted('gateway/src/utils/a.ts', ''))],
    [
      'an import of the schema',
      buildTimeImports(planted('gateway/src/config/a.ts', "import { schema } from './schema.ts';")),
    ],
    [
      'a block that imports another',
      foreignBlocks(planted('server/src/errors/a.ts', "import { x } from '../results/b.ts';")),
    ],
    [
      'an entry that exports another block',
      foreignBlocks(planted('server/src/config.ts', "export { x } from './store/b.ts';")),
    ],
    ['a file in no block', foreignBlocks(planted('server/src/utils/a.ts', ''))],
    ['a variable of a module', hiddenState(planted('server/src/errors/a.ts', 'let count = 0;'))],
    ['an exported variable', hiddenState(planted('server/src/errors/a.ts', 'export var count = 0;'))],
    ['a map of a module', hiddenState(planted('server/src/errors/a.ts', 'const seen = new Map<A, B>();'))],
    [
      'a set of a module that can grow',
      hiddenState(planted('server/src/errors/a.ts', 'export const seen: Set<string> = new Set();')),
    ],
    ['an empty list of a module', hiddenState(planted('server/src/errors/a.ts', 'const all: A[] = [];'))],
    [
      'a memo without a reason',
      hiddenState(planted('server/src/errors/a.ts', 'const memo = new WeakMap<A, B>();')),
    ],
    ['a variable of the environment', globalReads(planted('server/src/store/a.ts', 'f(process.env);'))],
    ['a fact in another block', globalReads(planted('server/src/errors/a.ts', 'f(process.platform);'))],
    ['the console', globalReads(planted('server/src/errors/a.ts', "console.warn('x');"))],
    [
      'a peer that is loaded at once',
      eagerPeers(planted('server/src/files/a.ts', "import { Router } from 'express';")),
    ],
    ['a public class', publicClasses(planted('server/src/files/a.ts', 'export class Files {}'))],
    [
      'a public base class',
      publicClasses(planted('server/src/files/a.ts', 'export abstract class A extends Error {}')),
    ],
    ['the type any', anyTypes(planted('gateway/src/errors.ts', 'export const x = y as any;'))],
    ['a large fixture', largeFixtures(planted('x.mjs', 'a\n'.repeat(201)))],
    ['a file that is gone', missingFiles('Calls are made by `call/nobody`, after `call/resolve`.')],
    ['an opening with What', breaches('/** What a client has sent. */')],
    ['an opening with It', breaches('// It is closed.')],
    ['an opening with a pronoun', breaches('/** Of whom it is asked. */')],
    ['an opening further down', breaches('/**\n * Closes it.\n * Whoever reads gets the rest.\n */')],
    ['a comment behind code', breaches('close(); // Somebody waits.')],
    ['a person without a name', breaches('/** Sends a line that nobody reads. */')],
    ['"is no"', breaches('// Drops what is no message.')],
    ['a title that begins with a question word', badTitles("test('what was sent', () => {});")],
    ['a title without a subject', badTitles("verifies(ids, 'is closed', () => {});")],
    ['a title with a person without a name', badTitles("test('a file nobody reads', () => {});")],
    ['a title with "is no"', badTitles('describe(`${name}: it is no list`, () => {});')],
    ['a title in a row', badTitles("test.each([['a list', 1], ['of lists', 2]])('%s', (_, n) => {});")],
    [
      'a title of a conditional test',
      badTitles("const onUnix = verifies.skipIf(no);\nonUnix.slow(id, 'may be closed', f);"),
    ],
    ['a count above the table', differences({ wire: 3 }, { wire: 2 })],
    ['a count below the table', differences({ wire: 1 }, { wire: 2 })],
    ['a folder that is not in the table', differences({ wire: 1 }, {})],
    ['a folder that is only in the table', differences({}, { wire: 1 })],
    ['a file name used twice', differences(repeated.fileNames, {})],
    ['a type name used twice', differences(repeated.typeNames, {})],
    ['any in a generic', anyTypes(planted('gateway/src/errors.ts', 'const x: Map<string, any> = y;'))],
  ])('a rule finds %s', (_what, findings) => {
    expect(findings).toHaveLength(1);
  });

  test('the import rules accept allowed imports', () => {
    const text =
      "import { a } from '../errors.ts';\nimport fs from 'node:fs';\n// any comment\nconst any = 'as any';";
    const files = planted('gateway/src/wire/a.ts', text);
    const findings = [foreignImports, deepImports, upwardImports, buildTimeImports, anyTypes].map((rule) =>
      rule(files),
    );
    expect(findings.flat()).toEqual([]);
  });

  test('the rules of blocks accept what each block may do', () => {
    const text = [
      "import type { Express } from 'express';",
      "import { b } from '../errors/b.ts';",
      "import type { Logger } from '../logger.ts';",
      "const { Router } = await import('express');",
      "const CODES: ReadonlySet<string> = new Set(['A']);",
      '// Keyed by the array of the caller, which costs much to check.',
      'const memo = new WeakMap<A, B>();',
      'export class FileError extends Error {}',
      'class Inner {}',
      'function f() {\n  let count = 0;\n  const seen = new Map();\n}',
      '// console.log of process.env',
    ].join('\n');
    const files = planted('server/src/files/a.ts', text);
    const rules = [foreignBlocks, hiddenState, globalReads, eagerPeers, publicClasses];
    expect(rules.flatMap((rule) => rule(files))).toEqual([]);
    expect(globalReads(planted('server/src/transport/stdio-server.ts', 'f(process.stdin);'))).toEqual([]);
  });

  test('the comment rules accept plain comments', () => {
    const text = [
      '/** Returns the lines that are no longer needed; undefined where there is no line. */',
      '// Items of the list: how many there are. However, its end is open.',
      "const url = 'http://nobody'; // Iterates; what follows is dropped.",
    ].join('\n');
    expect(breaches(text)).toEqual([]);
    expect(differences({ wire: 2 }, { wire: 2 })).toEqual([]);
  });

  test('the title rules accept plain titles', () => {
    const text = [
      "describe('a line', () => socket.on('whatever', close));",
      "test.skipIf(no ? undefined : 'what')('a line that is closed is no longer read', f);",
      "test.each(['is it?'])('a line ends with %s', (end) => call('not found'));",
    ].join('\n');
    expect(badTitles(text)).toEqual([]);
  });
});

function foreignImports(files: SourceFile[]): string[] {
  return findImports(files)
    .filter(({ specifier }) => !/^(\.|node:)/.test(specifier))
    .filter(({ path, specifier }) => {
      const { name = '', siblings = [], outside = [] } = packages[packageOf(path)] ?? {};
      return ![name, ...siblings, ...outside].includes(packageName(specifier));
    })
    .map(describeImport);
}

function deepImports(files: SourceFile[]): string[] {
  return findImports(files).filter(reachesIntoSibling).map(describeImport);
}

function reachesIntoSibling({ path, specifier }: Import): boolean {
  if (!specifier.startsWith('.')) {
    // A package exports its own name, and one path a block.
    const own = Object.values(packages).some(({ name }) => name === packageName(specifier));
    return own && !/^@weir\/\w+(?:\/[a-z]+)?$|^mcp-weir$/.test(specifier);
  }
  const target = join(dirname(path), specifier);
  return !target.startsWith(`${packageOf(path)}/`) && !(isTest(path) && target.startsWith('tests/'));
}

function upwardImports(files: SourceFile[]): string[] {
  const gateway = files.filter(({ path }) => path.startsWith('packages/gateway/src/'));
  const homeless = gateway
    .filter(({ path }) => stageOf(path) === -1)
    .map(({ path }) => `${path} is in no stage`);
  const upward = findImports(gateway)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .filter(({ path, specifier }) => stageOf(join(dirname(path), specifier)) > stageOf(path))
    .map(describeImport);
  return [...homeless, ...upward];
}

function buildTimeImports(files: SourceFile[]): string[] {
  return findImports(files)
    .filter(({ typeOnly }) => !typeOnly)
    .filter(({ path, specifier }) => buildTimeOnly.includes(join(dirname(path), specifier)))
    .map(describeImport);
}

function foreignBlocks(files: SourceFile[]): string[] {
  const inBlocks = serverFiles(files).filter(({ path }) => !isWholePackage(path));
  const homeless = inBlocks
    .filter(({ path }) => blocks[blockOf(path)] === undefined)
    .map(({ path }) => `${path} is in no block`);
  const foreign = findImports(inBlocks)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .filter(({ path, specifier }) => {
      const [own, target] = [blockOf(path), blockOf(join(dirname(path), specifier))];
      return ![own, 'logger', ...(blocks[own] ?? [])].includes(target);
    })
    .map(describeImport);
  return [...homeless, ...foreign];
}

/** Finds what outlives a call: variables and containers at the top of a module. */
function hiddenState(files: SourceFile[]): string[] {
  const state =
    /^(?:export )?(?:(?:let|var) .*|const \w+(?:: (?!Readonly|readonly).+?)? = (?:new (?:Map|Set|Array)\b|\[\]|\{\}).*)/gm;
  const memo = /^(?!.*\/\/)(?!\s*\*\/).*\n(?:export )?const \w+.* = new WeakMap.*/gm;
  return serverFiles(files).flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(state), ...`\n${text}`.matchAll(memo)].map(
      ([line]) => `${path} keeps state: ${line.trim()}`,
    ),
  );
}

function globalReads(files: SourceFile[]): string[] {
  return serverFiles(files).flatMap(({ path, text }) => {
    const allowed = Object.entries(membersOfProcess).find(([place]) => path.includes(`/src/${place}`))?.[1];
    return [...code(text).matchAll(/\b(?:process\.(?<member>\w+)|console\.\w+|globalThis\.(?!fetch\b)\w+)/g)]
      .filter(({ groups }) => groups?.['member'] === undefined || !allowed?.includes(groups['member']))
      .map(([found]) => `${path} reads ${found}`);
  });
}

function eagerPeers(files: SourceFile[]): string[] {
  return findImports(serverFiles(files))
    .filter(({ typeOnly, lazy }) => !typeOnly && !lazy)
    .filter(({ specifier }) => optionalPeers.includes(packageName(specifier)))
    .map(describeImport);
}

function publicClasses(files: SourceFile[]): string[] {
  return serverFiles(files).flatMap(({ path, text }) =>
    [...code(text).matchAll(/^export (?:abstract class|class (?!\w+ extends Error\b)).*/gm)].map(
      ([line]) => `${path} has ${line}`,
    ),
  );
}

function serverFiles(files: SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => path.startsWith('packages/server/src/'));
}

/** Tells the entries that export several blocks, and the logger, which is a type. */
function isWholePackage(path: string): boolean {
  return ['index', 'internal', 'logger'].includes(blockOf(path));
}

function blockOf(path: string): string {
  const [first = ''] = path.replace('packages/server/src/', '').split('/');
  return first.replace(/\.ts$/, '');
}

function anyTypes(files: SourceFile[]): string[] {
  return files
    .filter(({ text }) => /(?:[:<|&,(]|\bas|=>|\bsatisfies)\s*any\s*(?:[;,>)\]}|&=[]|$)/m.test(code(text)))
    .map(({ path }) => path);
}

function missingFiles(page: string): string[] {
  // In a block, names stand between arrows and words.
  const blocks = [...page.matchAll(/^```$(.*?)^```$/gmsu)].map(([, block = '']) => block);
  const named = [
    ...page.matchAll(/`([a-z-]+\/[a-z/-]+)`/g),
    ...blocks.flatMap((block) => [...block.matchAll(/(?<![\w/-])([a-z-]+\/[a-z/-]+)/g)]),
  ].map(([, name = '']) => name);
  const known = new Set(sources.map(({ path }) => path));
  const folders = new Set(sources.map(({ path }) => `${dirname(path)}/`));
  return named
    .filter((name) => stages.includes(name.split('/')[0] ?? ''))
    .filter((name) => {
      const path = `packages/gateway/src/${name}`;
      return name.endsWith('/') ? !folders.has(path) : !known.has(`${path}.ts`) && !folders.has(`${path}/`);
    });
}

function largeFixtures(files: SourceFile[]): string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .sort((one, other) => one.lines - other.lines)
    .filter(
      ({ lines }, index) => lines > (index < files.length / 2 ? fixtureLines.median : fixtureLines.most),
    )
    .map(({ path, lines }) => `${path} has ${lines} lines`);
}

interface Import {
  readonly path: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly lazy: boolean;
}

function findImports(files: SourceFile[]): Import[] {
  const statement =
    /^\s*(?:import|export)\s+(?<type>type\s)?[^'";]*?from\s*'(?<from>[^']+)'|^\s*import\s*'(?<bare>[^']+)'|\bimport\(\s*'(?<lazy>[^']+)'/gm;
  return files.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(statement)].map(({ groups = {} }) => ({
      path,
      specifier: groups['from'] ?? groups['bare'] ?? groups['lazy'] ?? '',
      typeOnly: groups['type'] !== undefined,
      lazy: groups['lazy'] !== undefined,
    })),
  );
}

function describeImport({ path, specifier }: Import): string {
  return `${path} imports ${specifier}`;
}

function packageOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function stageOf(path: string): number {
  const [first = ''] = path.replace('packages/gateway/src/', '').split('/');
  return stages.indexOf(first.replace(/\.ts$/, ''));
}

function isTest(path: string): boolean {
  return /\.(test|case)\.ts$/.test(path);
}

function code(text: string): string {
  return withoutComments(text).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(^|\s)\/\/.*$/gm, '$1');
}
