import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import rootManifest from '../../package.json' with { type: 'json' };
import cliManifest from '../../packages/cli/package.json' with { type: 'json' };
import gatewayManifest from '../../packages/gateway/package.json' with { type: 'json' };
import baseConfig from '../../tsconfig.base.json' with { type: 'json' };
import vitestConfig from '../../vitest.config.ts';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

interface Manifest {
  readonly type?: string;
  readonly bin?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly scripts?: Record<string, string>;
}

interface LockEntry extends Manifest {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

type Lock = Record<string, LockEntry>;

const lockfiles = [
  'package-lock.json',
  'tests/judges/package-lock.json',
  'tests/fleet/package-lock.json',
  'bench/server/libraries/package-lock.json',
];
const published = ['packages/server', 'packages/gateway', 'packages/cli'];

describe('the Node that runs the tests', () => {
  test("tests run with the caller's Node: no package puts another first in PATH", () => {
    const inPath = execFileSync('node', ['-p', 'process.execPath'], { encoding: 'utf8' }).trim();
    expect(realpathSync(inPath)).toBe(realpathSync(process.execPath));
    const callers = process.env['npm_node_execpath'] ?? process.execPath;
    expect(realpathSync(process.execPath)).toBe(realpathSync(callers));
  });

  test.each(['.', 'tests/judges', 'tests/fleet', 'bench/server/libraries'])(
    'no command linked in %s shadows Node',
    (folder) => {
      expect(existsSync(join(root, folder, 'node_modules', '.bin', 'node'))).toBe(false);
    },
  );
});

describe('the packages that users install', () => {
  test.each(published)('%s and its dependencies run no script on install', (folder) => {
    expect(installScripts(lock('package-lock.json'), folder)).toEqual([]);
    expect(Object.keys(manifest(folder).scripts ?? {}).filter(isInstallScript)).toEqual([]);
  });

  test('installScripts finds a script deep in the tree', () => {
    const planted: Lock = {
      'packages/x': { dependencies: { a: '1' } },
      'node_modules/a': { optionalDependencies: { b: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': {},
      'node_modules/c': { hasInstallScript: true },
      'node_modules/d': { hasInstallScript: true },
    };
    expect(installScripts(planted, 'packages/x')).toEqual(['node_modules/c']);
  });
});

describe('the command', () => {
  const { bin = {} } = manifest('packages/cli');

  verifies('AGG-CLI-1', 'the command has three names, each with a file of its own', () => {
    expect(Object.keys(bin).sort()).toEqual(['mcp-simple-aggregator', 'mcp-weir', 'weir']);
    expect(new Set(Object.values(bin)).size).toBe(3);
  });

  test.each(Object.entries(bin))('%s is one executable file, linked in the checkout', (name, path) => {
    const file = join(root, 'packages/cli', path);
    expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync(file, constants.X_OK);
    expect(realpathSync(join(root, 'node_modules', '.bin', name))).toBe(realpathSync(file));
  });
});

describe('requirements of quality', () => {
  verifies(
    'AGG-QA-1',
    'the packages use strict TypeScript, ES modules and explicit types on every export',
    () => {
      for (const folder of published) {
        expect(manifest(folder).type).toBe('module');
        expect(compilerOptions(folder)).toMatchObject({
          strict: true,
          target: 'es2023',
          module: 'nodenext',
          isolatedDeclarations: true,
          noUncheckedIndexedAccess: true,
          exactOptionalPropertyTypes: true,
          erasableSyntaxOnly: true,
        });
      }
    },
  );

  verifies('AGG-QA-1', 'the packages require Node 20.19 or later and target ES2022 or later', () => {
    for (const { engines } of [rootManifest, cliManifest, gatewayManifest])
      expect(engines.node).toBe('>=20.19');
    expect(Number(baseConfig.compilerOptions.target.replace('ES', ''))).toBeGreaterThanOrEqual(2022);
  });

  verifies('AGG-QA-1', 'tests fail below 80 % coverage of lines, branches, functions and statements', () => {
    const config = vitestConfig as { test?: { coverage?: { thresholds?: Record<string, number> } } };
    const thresholds = config.test?.coverage?.thresholds ?? {};
    expect(Object.keys(thresholds).sort()).toEqual(['branches', 'functions', 'lines', 'statements']);
    expect(Math.min(...Object.values(thresholds))).toBeGreaterThanOrEqual(80);
  });

  verifies('AGG-QA-2', 'the CI workflow runs the tests on Linux, macOS and Windows', () => {
    const job = readFileSync(join(root, '.github', 'workflows', 'ci.yml'), 'utf8');
    expect(job).toContain('os: [ubuntu, macos, windows]');
    expect(job).toContain('run: npm test');
  });
});

describe('lockfiles', () => {
  test.each(lockfiles)('%s names no host', (file) => {
    const hosts = Object.entries(lock(file)).filter(([, { resolved = '' }]) => resolved.includes(':'));
    expect(hosts).toEqual([]);
  });

  test.each(lockfiles)('%s names the binaries of every platform', (file) => {
    expect(missingOptional(lock(file))).toEqual([]);
  });
});

// Without them `npm ci` refuses the lockfile; scripts/complete-lockfile.mjs adds them.
function missingOptional(packages: Lock): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => resolvePackage(packages, path, name) === undefined),
  );
}

function installScripts(packages: Lock, from: string): string[] {
  return [...closure(packages, from)].filter((path) => packages[path]?.hasInstallScript === true);
}

function closure(packages: Lock, from: string, seen = new Set<string>()): Set<string> {
  if (seen.has(from)) return seen;
  seen.add(from);
  const { dependencies, optionalDependencies } = packages[from] ?? {};
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = resolvePackage(packages, from, name);
    if (found !== undefined) closure(packages, found, seen);
  }
  return seen;
}

// As Node does: the nearest node_modules on the way up.
function resolvePackage(packages: Lock, from: string, name: string): string | undefined {
  const parents = from.split('/').map((_, index, parts) => parts.slice(0, parts.length - index).join('/'));
  const path = [...parents, '']
    .map((parent) => join(parent, 'node_modules', name))
    .find((place) => packages[place]);
  return path !== undefined && packages[path]?.link === true ? packages[path].resolved : path;
}

function isInstallScript(name: string): boolean {
  return ['preinstall', 'install', 'postinstall', 'prepare'].includes(name);
}

function compilerOptions(folder: string): Record<string, unknown> {
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '--showConfig', '-p', join(root, folder)];
  const shown = execFileSync(process.execPath, args, { encoding: 'utf8' });
  return (JSON.parse(shown) as { compilerOptions: Record<string, unknown> }).compilerOptions;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

function lock(file: string): Lock {
  return (JSON.parse(readFileSync(join(root, file), 'utf8')) as { packages: Lock }).packages;
}
