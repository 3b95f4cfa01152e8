import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { addServer, inOneLine, type NewServer } from '../add-server.ts';
import type { Context } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { VERSION } from '../program.ts';
import { replaceFile } from '../replace-file.ts';
import type { Values } from '../values.ts';

/** Letters that npm takes for the name of a package, and every host for that of a server. */
const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/u;

/** Files of the template whose names npm would treat in its own way. */
const REAL_NAMES: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/** Writes a folder with a server that starts, its test and a config; with --config, enters it in that file, too. */
export async function create(
  { argument = '', configPath }: Values,
  { env, output, program }: Context,
): Promise<void> {
  const folder = resolve(argument);
  const name = basename(folder);
  if (!NAME.test(name))
    throw new UsageError(
      `'${name}' cannot name a server: use small letters, digits, ".", "_" and "-", as in ${program.name} new my-server`,
    );
  refuseTaken(folder);
  const entry = { command: 'node', args: [join(folder, 'dist', 'main.js')] };
  // Checked before anything is written, so that a config that cannot be changed leaves no folder behind.
  const config = configPath === undefined ? undefined : resolve(configPath);
  const changed = config && addServer({ path: config, text: readText(config), env }, { name, entry });
  writeFolder(folder, { name, version: VERSION }, configOf(name, entry));
  if (config && changed) replaceFile(config, changed);
  const place = relative('.', folder) || '.';
  const entered = config && `Entered '${name}' in ${configPath}.\n`;
  output.write(`Wrote ${place}: a server with one tool, its test and a config.
${entered ?? ''}
  cd ${place}
  npm install
  npm test
  ${program.name} serve --config ${config ?? 'mcp.json'}
`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(
      `Cannot read the config: ${(error as Error).message}. Leave --config out: the folder gets a config of its own.`,
      { cause: error },
    );
  }
}

function refuseTaken(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined || (found.isDirectory() && readdirSync(folder).length === 0)) return;
  throw new CliError(`${folder} exists and is not an empty folder: choose another name.`);
}

/** Returns the config of the folder: its server alone. */
function configOf(name: string, entry: NewServer['entry']): string {
  return `{\n  "mcpServers": {\n    ${JSON.stringify(name)}: ${inOneLine(entry)}\n  }\n}\n`;
}

/** Writes the folder under another name first: one that is there is whole. */
function writeFolder(folder: string, texts: Readonly<Record<string, string>>, config: string): void {
  const parent = dirname(folder);
  let fresh: string | undefined;
  try {
    mkdirSync(parent, { recursive: true });
    fresh = join(parent, `.${basename(folder)}-${process.pid}`);
    mkdirSync(fresh);
    fill(templateFolder(), fresh, texts);
    writeFileSync(join(fresh, 'mcp.json'), config);
    if (existsSync(folder)) rmSync(folder, { recursive: true });
    renameSync(fresh, folder);
  } catch (error) {
    if (fresh !== undefined) rmSync(fresh, { recursive: true, force: true });
    throw new CliError(`Cannot write ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/** The template stands beside the command that runs. */
function templateFolder(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '.')), 'template');
}

/** Copies the template and fills in each `{{name}}`. */
function fill(template: string, folder: string, texts: Readonly<Record<string, string>>): void {
  cpSync(template, folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8');
    rmSync(path);
    writeFileSync(
      join(entry.parentPath, REAL_NAMES[entry.name] ?? entry.name),
      text.replaceAll(/\{\{(\w+)\}\}/gu, (whole, key: string) => texts[key] ?? whole),
    );
  }
}
