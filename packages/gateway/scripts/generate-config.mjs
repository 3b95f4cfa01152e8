#!/usr/bin/env node
// @ts-check
// Writes what follows from src/config/schema.ts (types and validator, JSON Schema, reference page), and the shell program of
// the guard as a module, because neither tsc nor a bundle can import a shell file.
// --check writes nothing and fails when a file is not up to date.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { publicSchema, readSchema } from './generate-config/read-schema.mjs';
import { renderReference } from './generate-config/reference.mjs';
import { renderDefaults, renderKinds, renderLiveKeys, renderTypes } from './generate-config/types.mjs';
import { renderValidator } from './generate-config/validator.mjs';

const gateway = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(dirname(gateway));
const generatedBy =
  '// Generated from schema.ts by scripts/generate-config.mjs: change the schema, not this file.';

const processes = join(gateway, 'src', 'upstream', 'process');
const { schema, kinds } = await readSchema(join(gateway, 'src', 'config', 'schema.ts'));
const outputs = [
  [join(gateway, 'src', 'config', 'config.generated.ts'), renderModule()],
  [join(root, 'docs', 'config.schema.json'), JSON.stringify(publicSchema(schema))],
  [join(root, 'docs', 'config.md'), renderReference(schema, kinds)],
  [join(processes, 'guard.generated.ts'), await renderGuard(join(processes, 'guard.sh'))],
];
const stale = process.argv.includes('--check') ? await findStale() : await writeAll();
if (stale.length > 0) {
  console.error(`Not up to date: ${stale.join(', ')}. Run "npm run build".`);
  process.exitCode = 1;
}

function renderModule() {
  return [
    generatedBy,
    "import { isRecord } from '../wire/json/value-checks.ts';",
    "import { type Findings, has, isList } from './findings.ts';",
    "import type { JsonPath } from './json/json-path.ts';",
    renderTypes(schema),
    renderKinds(kinds),
    renderLiveKeys(schema),
    renderDefaults(schema),
    renderValidator(schema),
  ].join('\n\n');
}

/** @param {string} file */
async function renderGuard(file) {
  const program = JSON.stringify(await readFile(file, 'utf8'));
  return `// Generated from guard.sh by scripts/generate-config.mjs: change guard.sh, not this file.\nexport const GUARD_PROGRAM: string = ${program};\n`;
}

/** @returns {Promise<string[]>} */
async function findStale() {
  const found = [];
  for (const [path = '', source = ''] of outputs) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text !== (await formatted(path, source))) found.push(relative(root, path));
  }
  return found;
}

/** @returns {Promise<string[]>} */
async function writeAll() {
  for (const [path = '', source = ''] of outputs) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await formatted(path, source));
  }
  return [];
}

/**
 * The formatter's own hand, so that formatting the project changes nothing here.
 * @param {string} path
 * @param {string} source
 */
async function formatted(path, source) {
  if (path.endsWith('.md')) return source;
  const options = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8'));
  const { code, errors } = await format(path, source, options);
  if (errors.length > 0) throw new Error(`${relative(root, path)}: ${errors[0]?.message}`);
  return code;
}
