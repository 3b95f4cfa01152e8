import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A package as far as this machine knows it; no registry is asked. */
export interface NpmPackage {
  readonly name: string;
  readonly version?: string | undefined;
  readonly integrity?: string | undefined;
}

export interface PackageCommand {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
}

const NPX = /^npx(?:\.cmd|\.exe)?$/iu;
const PACKAGE = /^(@[\w.~-]+\/[\w.~-]+|[\w.~-]+)(?:@(.+))?$/u;
const EXACT = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/u;

/** Returns the package that `npx` runs, with its version and integrity if these folders have it in `node_modules`. */
export function npmPackage(
  { command = '', args = [] }: PackageCommand,
  folders: readonly string[],
): NpmPackage | undefined {
  if (!NPX.test(basename(command))) return undefined;
  const [, name, wanted] = PACKAGE.exec(packageArgument(args) ?? '') ?? [];
  if (name === undefined) return undefined;
  const exact = wanted !== undefined && EXACT.test(wanted) ? wanted : undefined;
  const found = folders.flatMap((folder) => installed(folder, name) ?? []);
  const versions = new Set(found.map(({ version }) => version));
  // With several versions installed, which one npx runs is unknown.
  const version = exact ?? (versions.size === 1 ? found[0]?.version : undefined);
  return { name, version, integrity: found.find((one) => one.version === version)?.integrity };
}

function packageArgument(args: readonly string[]): string | undefined {
  const named = args.findIndex((arg) => arg === '-p' || arg === '--package');
  if (named >= 0) return args[named + 1];
  const joined = args.find((arg) => arg.startsWith('--package='));
  return joined?.slice('--package='.length) ?? args.find((arg) => !arg.startsWith('-'));
}

/** Returns the folders of npx's cache. */
export function npxFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const cache = env['npm_config_cache'] ?? (home === undefined ? undefined : join(home, '.npm'));
  if (cache === undefined) return [];
  try {
    return readdirSync(join(cache, '_npx')).map((folder) => join(cache, '_npx', folder));
  } catch {
    return [];
  }
}

function installed(folder: string, name: string): Omit<NpmPackage, 'name'> | undefined {
  try {
    const text = readFileSync(join(folder, 'node_modules', '.package-lock.json'), 'utf8');
    const { packages = {} } = JSON.parse(text) as { packages?: Record<string, Omit<NpmPackage, 'name'>> };
    return packages[`node_modules/${name}`];
  } catch {
    return undefined;
  }
}
