import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { npmScript } from '../../scripts/steps.mjs';
import type { Example } from './server-readme.ts';
import { root } from './source-files.ts';

/** Dependencies that npm installs with `@weir/server`. */
export const INSTALLED = ['@modelcontextprotocol/server', 'zod'];

/** Packages that only some functions need. */
export const OPTIONAL = ['@modelcontextprotocol/client', 'express', 'openid-client'];

/** Packs `@weir/server` as npm publishes it, and unpacks it into a folder. */
export function packServer(folder: string): string {
  const args = [
    join(root, 'packages', 'server'),
    '--pack-destination',
    folder,
    '--ignore-scripts',
    '--silent',
  ];
  const env = { PATH: process.env['PATH'], HOME: folder, npm_config_cache: join(folder, 'cache') };
  const name = execFileSync(process.execPath, [npmScript(), '--offline', 'pack', ...args], {
    encoding: 'utf8',
    env,
  });
  execFileSync('tar', ['-xzf', name.trim()], { cwd: folder });
  return join(folder, 'package');
}

/** Makes a project that has installed the unpacked package beside others of this repository. */
export function installPacked(unpacked: string, project: string, packages: readonly string[]): string {
  cpSync(unpacked, join(project, 'node_modules', '@weir', 'server'), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  for (const name of packages) {
    const link = join(project, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link, 'junction');
  }
  return project;
}

/** Writes an example as JavaScript, as `tsc` would, and returns its path. */
export function writeScript(project: string, { name, code }: Example): string {
  const file = join(project, `${name}.mjs`);
  writeFileSync(file, transformSync(code, { loader: 'ts', target: 'node20' }).code);
  return file;
}
