// @ts-check
// Runs a client to its end, or to its time limit, in an environment of its own.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';

/** @typedef {{ code: number | string; stdout: string; stderr: string }} Ended */

/** Enough for a client that starts slowly on a busy machine. */
const LIMIT_MS = 150_000;
const MAX_OUTPUT = 4 * 1024 * 1024;

/**
 * @param {import('./scene.mjs').Scene} scene
 * @param {{ file: string; args: string[]; env?: Record<string, string>; input?: string }} command
 * @returns {Promise<Ended>}
 */
export async function runClient(scene, { file, args, env = {}, input = '' }) {
  const child = spawn(file, args, {
    cwd: scene.work,
    env: { ...ownEnvironment(scene), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that at the time limit nothing of it is left.
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  for (const name of /** @type {const} */ (['stdout', 'stderr']))
    child[name].setEncoding('utf8').on('data', (text) => {
      if (output[name].length < MAX_OUTPUT) output[name] += text;
    });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const timer = setTimeout(() => end(child.pid, 'SIGKILL'), LIMIT_MS);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (status, signal) => resolve(status ?? signal));
  });
  clearTimeout(timer);
  end(child.pid, 'SIGTERM');
  return { code, ...output };
}

/**
 * Nothing of the caller's reaches a client: no key, no proxy, no setting.
 * @param {import('./scene.mjs').Scene} scene
 */
function ownEnvironment({ home, node }) {
  return {
    PATH: [dirname(node), process.env['PATH']].join(':'),
    HOME: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_DATA_HOME: `${home}/.local/share`,
    XDG_STATE_HOME: `${home}/.local/state`,
    XDG_CACHE_HOME: `${home}/.cache`,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    CI: '1',
    DO_NOT_TRACK: '1',
    NO_PROXY: '127.0.0.1,localhost',
  };
}

/**
 * @param {number | undefined} pid
 * @param {NodeJS.Signals} signal
 */
function end(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group is gone, as it should be.
  }
}
