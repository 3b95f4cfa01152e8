// @ts-check
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { after, finding, filesBesideOurs, processesMarked, secondsUntil } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const CLIENTS = 5;
const script = fileURLToPath(new URL('doomed-client.mjs', import.meta.url));

/** @typedef {Awaited<ReturnType<typeof start>>} Subject */

/** @type {import('../chaos.mjs').Fault} */
export const vanishedClient = {
  title: 'Clients are killed in the middle of their calls',
  subjects: ['weir serve', 'weir', 'mcp-hub', 'mcp-proxy'],
  async run(name, { gateway }) {
    const mark = randomUUID();
    const subject = await start(name, { s0: fixture('crash', [], mark) }, { gateway, mark });
    return name === 'weir' ? onlyClient(subject, mark) : oneOfMany(subject);
  },
};

/**
 * On stdio the client is the only one, and the gateway goes with it.
 * @param {Subject} subject
 * @param {string} mark
 */
async function onlyClient(subject, mark) {
  for (let call = 0; call < 8; call++) void subject.client.call('s0:slow', { ms: 60_000 });
  await delay(200);
  subject.child.stdin.destroy();
  subject.child.stdout.destroy();
  const clean = await secondsUntil(5, () => processesMarked(mark).length === 0);
  await subject.end();
  return [finding('on stdio, 5 s after its client no process is left', clean !== undefined, after(clean))];
}

/** @param {Subject} subject */
async function oneOfMany(subject) {
  const slow = subject.tool('s0', 'slow');
  const next = () => ({ key: 's0', name: slow, args: { ms: 20 } });
  await callDuring(subject.client, delay(500), { inFlight: 4, next });
  const before = filesBesideOurs(subject.pid);
  const seen = await callDuring(subject.client, killClients(subject, slow), { inFlight: 4, next });
  const freed = await secondsUntil(10, () => filesBesideOurs(subject.pid) <= before);
  const files = filesBesideOurs(subject.pid);
  await subject.end();
  return [
    unnoticed(seen, 'calls of other clients are not affected'),
    finding(
      'within 10 s as many open files as before, or fewer',
      freed !== undefined,
      `${before} before, ${files} after`,
    ),
  ];
}

/**
 * @param {Subject} subject
 * @param {string} tool
 */
async function killClients({ url, token, name }, tool) {
  for (let client = 0; client < CLIENTS; client++) {
    const kind = name === 'mcp-hub' ? 'events' : 'streamable';
    const args = [script, url, kind, tool, ...(token === undefined ? [] : [token])];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    child.kill('SIGKILL');
  }
}
