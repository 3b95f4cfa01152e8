// @module-tag slow
// The package as npm packs it, installed where nothing else is.
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { npmScript } from '../../../scripts/steps.mjs';
import {
  commandFor,
  fixture,
  runWeir,
  temporaryFolder,
  textOf,
  VERSION,
  Weir,
} from '../../support/harness.ts';
import { brokenLinks, linksOf } from '../../support/page-links.ts';
import { root, sourceFiles } from '../../support/source-files.ts';
import { verifies } from '../../verifies.ts';

const NAMES = ['weir', 'mcp-weir', 'mcp-simple-aggregator'] as const;
const isWindows = process.platform === 'win32';

let folder: string;
let tarball: string;
let packed: string[];

/** Runs npm with a home and a cache of its own, and without a network. */
function npm(...args: string[]): string {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: home, npm_config_cache: join(home, 'cache') },
  };
  return execFileSync(
    process.execPath,
    [npmScript(), '--offline', '--no-audit', '--no-fund', ...args],
    options,
  );
}

beforeAll(() => {
  folder = temporaryFolder();
  const [report] = JSON.parse(npm('pack', join(root, 'packages', 'cli'), '--json')) as {
    filename: string;
    files: { path: string }[];
  }[];
  packed = (report?.files ?? []).map(({ path }) => path);
  tarball = join(folder, report?.filename ?? '');
});

verifies('AGG-CLI-1', 'the tarball has the command, its demo, the pages, and nothing else', () => {
  const commands = ['control', 'docker', 'lock', 'serve', 'stdio'];
  const main = [...NAMES, ...commands.map((name) => `${name}/main`)].map((name) => `dist/${name}.cjs`);
  const late = packed.filter((path) =>
    /^dist\/(?:serve|stdio|lock|docker|control)\/[a-z-]+-[\dA-Z]{8}\.cjs$/.test(path),
  );
  expect(late.length).toBeGreaterThan(0);
  const built = [...main, ...late];
  const servers = ['clock', 'dice', 'notes'].map((name) => `dist/demo/${name}.mjs`);
  const shared = packed.filter((path) => /^dist\/demo\/shared\/chunk-[\dA-Z]{8}\.mjs$/.test(path));
  // The dependencies of the servers are in the package once.
  expect(shared).toHaveLength(1);
  const demo = [...servers, ...shared, 'dist/demo/shared/LICENSES.txt'];
  const docs = readdirSync(join(root, 'docs')).filter((name) => !name.endsWith('.json'));
  const pages = ['dist/SECURITY.md', ...docs.map((name) => `dist/docs/${name}`)];
  const template = sourceFiles('packages/cli/template', /./).map(({ path }) =>
    path.replace('packages/cli/', 'dist/'),
  );
  const own = ['LICENSE', 'README.md', 'package.json'];
  expect(packed.sort()).toEqual([...built, ...demo, ...template, ...pages, ...own].sort());
});

/** The template belongs to the folder that `weir new` writes. */
function isOfTemplate(path: string): boolean {
  return path.startsWith('dist/template/');
}

test('every link of the packed README and of each packed page leads to a file of the package', () => {
  const folder = join(root, 'packages', 'cli');
  const pages = packed.filter((path) => path.endsWith('.md') && !isOfTemplate(path));
  const isPacked = (file: string): boolean => packed.includes(file);
  expect(pages.map((page) => [page, brokenLinks(folder, page, isPacked)])).toEqual(
    pages.map((page) => [page, []]),
  );
  const linked = new Set(pages.flatMap((page) => linksOf(folder, page).map(({ file }) => file)));
  const readable = packed.filter((path) => /^dist\/.*\.(?:md|svg)$/u.test(path) && !isOfTemplate(path));
  expect(readable.filter((path) => !linked.has(path))).toEqual([]);
});

test('the packed pages are those of the repository', () => {
  for (const path of packed.filter((name) => /^dist\/.*\.md$/u.test(name) && !isOfTemplate(name)))
    expect(readFileSync(join(root, 'packages', 'cli', path), 'utf8')).toBe(
      readFileSync(join(root, path.replace('dist/', '')), 'utf8'),
    );
});

test('a command whose file is missing after an update says to restart it', async () => {
  const copy = join(folder, 'updated');
  cpSync(join(root, 'packages', 'cli', 'dist'), copy, { recursive: true });
  for (const name of readdirSync(join(copy, 'stdio')))
    if (name.startsWith('remote-connection-')) rmSync(join(copy, 'stdio', name));
  const { args, ...command } = commandFor({ far: { url: 'http://127.0.0.1:9/mcp' } });
  const started = [join(copy, 'mcp-simple-aggregator.cjs'), ...args.slice(1)];
  await using weir = new Weir({ ...command, command: process.execPath, args: started });
  const { code, stderr } = await weir.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /Weir was updated or removed while it ran\. Restart it\. \(ENOENT: .*remote-connection-/,
  );
});

describe.skipIf(isWindows)('the installed command', () => {
  for (const where of ['in an empty folder', 'for all users of a prefix'] as const)
    verifies('AGG-CLI-1', `the command installed ${where} serves under each of its three names`, async () => {
      const isGlobal = where !== 'in an empty folder';
      const place = join(folder, isGlobal ? 'global' : 'local');
      mkdirSync(place);
      npm('install', ...(isGlobal ? ['--global'] : []), '--prefix', place, tarball);
      const bins = isGlobal ? join(place, 'bin') : join(place, 'node_modules', '.bin');
      expect(
        readdirSync(bins)
          .filter((name) => !name.startsWith('.'))
          .sort(),
      ).toEqual([...NAMES].sort());
      for (const name of NAMES) {
        const { args, ...command } = commandFor({ echo: fixture('echo') });
        await using weir = new Weir({ ...command, command: join(bins, name), args: args.slice(1) });
        const listed = name === 'mcp-simple-aggregator' ? 'echo:echo' : 'echo__echo';
        expect(await weir.tools()).toContain(listed);
        expect(textOf(await weir.callTool(listed, { text: 'hello' }))).toBe('hello');
        expect(await weir.close()).toMatchObject({ code: 0 });
      }
    });

  verifies('AGG-CLI-1', 'npx runs mcp-weir from the tarball', () => {
    expect(npm('exec', '--yes', `--package=${tarball}`, '--', 'mcp-weir', '-v')).toBe(`${VERSION}\n`);
    const nearby = `./${basename(tarball)}`;
    expect(npm('exec', '--yes', nearby, '--', 'help', 'serve')).toContain('\nUsage: mcp-weir serve ');
  });
});

verifies('AGG-CLI-1', 'every form of help and version prints to stdout', async () => {
  for (const [args, usage] of [
    [['help'], 'weir --config'],
    [['--help'], 'weir --config'],
    [['-h'], 'weir --config'],
    [['help', 'serve'], 'weir serve'],
    [['serve', '-h'], 'weir serve'],
    [['help', 'lock'], 'weir lock'],
    [['help', 'docker'], 'weir docker'],
    [['help', 'history'], 'weir history'],
    [['help', 'ps'], 'weir ps'],
    [['help', 'enable'], 'weir enable SERVER'],
    [['help', 'completion'], 'weir completion bash|zsh|fish'],
    [['help', 'help'], 'weir --config'],
  ] as const) {
    const { code, stdout, stderr } = await runWeir(args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    expect(stdout).toContain(`\nUsage: ${usage}`);
  }
  for (const args of [['-v'], ['--version'], ['serve', '-v'], ['ps', '-v'], ['docker', '-v'], ['lock', '-v']])
    expect(await runWeir(args)).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

verifies('AGG-CLI-1', 'a misspelt command exits with 2 and the nearest command', async () => {
  for (const [args, meant] of [
    [['sreve', '--demo'], 'serve'],
    [['histroy'], 'history'],
    [['help', 'sreve'], 'serve'],
  ] as const) {
    const { code, stdout, stderr } = await runWeir(args, { as: 'mcp-weir' });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Unknown command: \w+ \(did you mean mcp-weir \w+\?\)\n\nUsage: mcp-weir /u);
    expect(stderr).toContain(`mcp-weir ${meant}?`);
  }
});

test('no text tells users to run npx with the name weir, which is another package', () => {
  // Written in two parts, so that this file does not say it either.
  const wrong = ['npx', 'weir'].join(' ');
  const built = packed.map((path) => ({
    path,
    text: readFileSync(join(root, 'packages/cli', path), 'utf8'),
  }));
  const files = [...sourceFiles('.', /\.(md|ts|mjs|jsonc?)$/u), ...built];
  expect(files.filter(({ text }) => text.includes(wrong)).map(({ path }) => path)).toEqual([]);
});
