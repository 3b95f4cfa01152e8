// @ts-check
// A conversation with a server on stdio in which the bytes of results are kept.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { rawAt } from '../../tests/fixtures/stdio.mjs';

/** No harmless call takes longer. */
const LIMIT_MS = 60_000;

/**
 * What a request led to: the bytes of its result or of its error.
 * @typedef {{ result?: string; error?: string }} Outcome
 */

/**
 * Starts a server, shakes hands, hands the session to `use`, and ends the server.
 * @template T
 * @param {{ command: string; args: string[]; env: Record<string, string>; cwd: string }} server
 * @param {(request: (method: string, params?: object) => Promise<Outcome>) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withSession({ command, args, env, cwd }, use) {
  const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  /** @type {Map<unknown, (outcome: Outcome) => void>} */
  const pending = new Map();
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaint = `${complaint}${text}`.slice(-500)));
  child.stdin.on('error', () => {});
  const write = (/** @type {object} */ message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parse(line);
    if (message === undefined) return;
    if (message.method === undefined) pending.get(message.id)?.(outcomeOf(line));
    else if (message.id !== undefined)
      write({ id: message.id, error: { code: -32601, message: 'This client is asked in vain' } });
  });
  const ended = new Promise((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with exit code ${code}: ${complaint}`)));
    child.once('error', reject);
  });

  let last = 0;
  const request = async (/** @type {string} */ method, params = {}) => {
    const id = ++last;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const answered = new Promise((resolve, reject) => {
      pending.set(id, resolve);
      timer = setTimeout(() => reject(new Error(`${method} was not answered: ${complaint}`)), LIMIT_MS);
    });
    write({ id, method, params });
    try {
      return /** @type {Outcome} */ (await Promise.race([answered, ended]));
    } finally {
      clearTimeout(timer);
    }
  };

  try {
    const clientInfo = { name: 'line-session', version: '1.0.0' };
    // Tools that must be called as tasks are listed only to clients that know tasks.
    const capabilities = { tasks: {} };
    await request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    write({ method: 'notifications/initialized' });
    return await use(request);
  } finally {
    ended.catch(() => {});
    child.stdin.end();
    await Promise.race([ended.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 6000))]);
    endGroup(child.pid);
  }
}

/** @param {string} line */
function parse(line) {
  try {
    return /** @type {{ id?: unknown; method?: string }} */ (JSON.parse(line));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} line
 * @returns {Outcome}
 */
function outcomeOf(line) {
  const [result, error] = [rawAt(line, 'result'), rawAt(line, 'error')];
  return { ...(result !== undefined && { result }), ...(error !== undefined && { error }) };
}

/** @param {number | undefined} pid */
function endGroup(pid) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone, as it should be.
  }
}
