// @ts-check
// Thirty servers, one of which is killed every second, while 32 calls are in flight.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '../steps.mjs';
import { openFiles, processesEndingWith, randomFrom, residentMb, startGateway, within } from './gateway.mjs';

const SERVERS = 30;
const CALLS = 32;
/** No call takes longer than this to be answered, whatever happens to its server. */
const LONGEST_S = 10;
/** The longest pause between two attempts, the slowest of starts, and some more. */
const RECOVERY_S = 40;
const GROWTH_MB = 32;

/**
 * @param {import('../chaos.mjs').Settings} settings
 * @returns {Promise<import('../chaos.mjs').Finding[]>}
 */
export async function killedServers({ seconds, seed, gateway: script }) {
  const random = randomFrom(seed);
  const run = `chaos-${process.pid}-${seed}`;
  const keys = Array.from({ length: SERVERS }, (_, n) => `s${n}`);
  const fixture = join(root, 'tests', 'fixtures', 'crash.mjs');
  const servers = keys.map((key) => [key, { command: process.execPath, args: [fixture, `${run}-${key}`] }]);
  const gateway = await startGateway(Object.fromEntries(servers), script);
  const listed = (await gateway.tools()).length;
  await callAround(gateway, keys, { seconds: 1, random });
  const before = { files: openFiles(gateway.pid), memory: residentMb(gateway.pid) };

  const killing = killOneASecond(keys, { run, seconds, random });
  const calls = await callAround(gateway, keys, { seconds, random });
  const killed = await killing;

  const isDisabled = (/** @type {string} */ key) => gateway.log.includes(`Server '${key}' is disabled:`);
  const isSettled = await within(RECOVERY_S, async () => {
    const tools = new Set(await gateway.tools());
    return keys.every((key) => tools.has(`${key}:pid`) || isDisabled(key));
  });
  const disabled = keys.filter(isDisabled);
  const unjust = disabled.filter((key) => killed.filter((one) => one === key).length < 4);
  const after = { files: openFiles(gateway.pid), memory: residentMb(gateway.pid) };
  await gateway.end();
  const isClean = await within(5, () =>
    keys.every((key) => processesEndingWith(`${run}-${key}`).length === 0),
  );
  const nameless = calls.errors.filter(({ key, text }) => !text.includes(key));
  return [
    finding(
      `every call is answered within ${LONGEST_S} s`,
      calls.unanswered === 0 && calls.slowest < LONGEST_S * 1000,
      `${calls.count} calls, ${calls.errors.length} of them errors, ${calls.unanswered} unanswered, the slowest after ${Math.round(calls.slowest)} ms; ${killed.length} times a server was killed`,
    ),
    finding('every error names its server', nameless.length === 0, nameless[0]?.text ?? 'all do'),
    finding(
      'every server is back, or disabled by the rule',
      isSettled && unjust.length === 0 && listed === SERVERS * 4,
      `${SERVERS - disabled.length} back, ${disabled.length} disabled`,
    ),
    finding(
      'as many open files as before, or fewer',
      after.files <= before.files,
      `${before.files} before, ${after.files} after`,
    ),
    finding(
      `memory grows by less than ${GROWTH_MB} MB`,
      after.memory - before.memory < GROWTH_MB,
      `${before.memory.toFixed(0)} MB before, ${after.memory.toFixed(0)} MB after`,
    ),
    finding('no process is left behind', isClean, isClean ? 'none is' : 'some are'),
  ];
}

/**
 * @param {string} promise
 * @param {boolean} isKept
 * @param {string} happened
 */
function finding(promise, isKept, happened) {
  return { promise, isKept, happened };
}

/**
 * Keeps calls in flight for so long; resolves when all of them are answered, or will not be.
 * @param {Awaited<ReturnType<typeof startGateway>>} gateway
 * @param {readonly string[]} keys
 * @param {{ seconds: number; random: () => number }} options
 */
async function callAround(gateway, keys, { seconds, random }) {
  const until = performance.now() + seconds * 1000;
  const seen = {
    count: 0,
    unanswered: 0,
    slowest: 0,
    errors: /** @type {{ key: string; text: string }[]} */ ([]),
  };
  const pick = () => keys[Math.floor(random() * keys.length)] ?? '';
  const keepCalling = async () => {
    while (performance.now() < until) {
      const key = pick();
      const began = performance.now();
      const params = { name: `${key}:slow`, arguments: { ms: Math.floor(random() * 200) } };
      const answer = await Promise.race([
        gateway.request('tools/call', params),
        delay(LONGEST_S * 1000, undefined, { ref: false }),
      ]);
      seen.count++;
      seen.slowest = Math.max(seen.slowest, performance.now() - began);
      if (answer === undefined) seen.unanswered++;
      else if (answer.error !== undefined) seen.errors.push({ key, text: answer.error.message });
      // A server that is away answers at once; nobody calls a dead server a thousand times a second.
      if (answer?.error !== undefined) await delay(20);
    }
  };
  await Promise.all(Array.from({ length: CALLS }, keepCalling));
  return seen;
}

/**
 * Resolves with the servers that were killed, in order.
 * @param {readonly string[]} keys
 * @param {{ run: string; seconds: number; random: () => number }} options
 */
async function killOneASecond(keys, { run, seconds, random }) {
  const killed = [];
  for (let second = 0; second < seconds; second++) {
    const key = keys[Math.floor(random() * keys.length)] ?? '';
    for (const pid of processesEndingWith(`${run}-${key}`)) {
      if (kill(pid)) killed.push(key);
    }
    await delay(1000);
  }
  return killed;
}

/**
 * It may have ended by itself since it was seen.
 * @param {number} pid
 */
function kill(pid) {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
