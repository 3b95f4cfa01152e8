// @ts-check
// What the scripts share: one quiet step with one line of progress, and the folders they work in.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Runs Node on a script, says what it is about in one line, and shows the output only when it fails.
 * @param {string} label
 * @param {string[]} args
 * @param {{ cwd?: string }} [options]
 */
export function quietStep(label, args, { cwd = root } = {}) {
  process.stderr.write(`weir: ${label} … `);
  const started = performance.now();
  const { status, stdout, stderr, error } = runNode(args, cwd);
  process.stderr.write(
    `${((performance.now() - started) / 1000).toFixed(1)} s${status === 0 ? '' : ', failed'}\n`,
  );
  if (status === 0) return;
  process.stderr.write(`${stdout}${stderr}`);
  throw new Error(`${label} failed${error === undefined ? '' : `: ${error.message}`}`, { cause: error });
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function runNode(args, cwd) {
  // No stdin: nothing here may ask a question, on a terminal or in CI.
  return spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The script behind `npm`, so that it runs on this very Node and needs no shell on Windows. */
export function npmScript() {
  const beside = dirname(process.execPath);
  const candidates = [
    process.env['npm_execpath'] ?? '',
    join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, '..', 'share', 'nodejs', 'npm', 'bin', 'npm-cli.js'),
  ];
  const found = candidates.find((file) => file.endsWith('npm-cli.js') && existsSync(file));
  if (found === undefined) {
    throw new Error(
      `npm was not found beside ${process.execPath}. Install npm, or run this through "npm run".`,
    );
  }
  return found;
}

/**
 * For the end of a script: a failure is one line, not a stack trace.
 * @param {() => void | Promise<void>} main
 */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`weir: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Whether it could be done.
 * @param {() => unknown} action
 */
export function tryTo(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
