// @ts-check
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  after,
  finding,
  kill,
  filesBesideOurs,
  highestMb,
  processesEndingWith,
  processesMarked,
  randomFrom,
  residentMb,
  secondsUntil,
} from './common.mjs';
import { allAnswered, callDuring } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const SERVERS = 30;
const CALLS = 32;
/** The longest pause between two attempts, the slowest of starts, and some more. */
const RECOVERY_S = 40;
const GROWTH_MB = 32;
/** Until the heap has been as large as it gets under this load, so that what it grows by is the fault's. */
const WARM_S = 40;
const keys = Array.from({ length: SERVERS }, (_, n) => `s${n}`);

/** @type {import('../chaos.mjs').Fault} */
export const killedServers = {
  title: `${SERVERS} servers, one of which is killed every second, with ${CALLS} calls in flight`,
  subjects: ['weir', 'weir serve', 'mcp-hub'],
  except: { 'mcp-proxy': 'it has one server' },
  async run(name, { seconds, seed, gateway }) {
    const random = randomFrom(seed);
    const mark = randomUUID();
    const servers = keys.map((key) => [key, fixture('crash', [`${mark}-${key}`], mark)]);
    const subject = await start(name, Object.fromEntries(servers), { gateway, mark });
    const calls = { inFlight: CALLS, next: () => callOf(subject, random) };
    const warming = callDuring(subject.client, delay(Math.min(seconds / 2, WARM_S) * 1000), calls);
    const before = { memory: await highestMb(subject.pid, warming), files: filesBesideOurs(subject.pid) };

    /** @type {string[]} */
    const killed = [];
    const killing = killOneASecond(killed, { mark, seconds, random });
    const seen = await callDuring(subject.client, killing, calls);

    const isDisabled = (/** @type {string} */ key) => subject.log.includes(`Server '${key}' is disabled:`);
    const running = new Set();
    const settled = await secondsUntil(RECOVERY_S, async () => {
      await Promise.all(keys.map(async (key) => isUp(subject, key).then((is) => is && running.add(key))));
      return keys.every((key) => running.has(key) || isDisabled(key));
    });
    const disabled = keys.filter(isDisabled);
    const unjust = disabled.filter((key) => killed.filter((one) => one === key).length < 4);
    // What was sent by the last calls is collected in its own time.
    await secondsUntil(5, () => filesBesideOurs(subject.pid) <= before.files);
    const end = { files: filesBesideOurs(subject.pid), memory: residentMb(subject.pid) };
    await subject.end();
    const clean = await secondsUntil(5, () => processesMarked(mark).length === 0);
    const left = processesMarked(mark);
    left.forEach((pid) => kill(pid));
    const nameless = seen.errors.find(({ key, text }) => !text.includes(key));
    return [
      allAnswered(seen, `; ${killed.length} times a server was killed`),
      finding(
        'every error names its server',
        nameless === undefined,
        nameless === undefined ? 'all do' : `not all: "${nameless.text}"`,
      ),
      finding(
        'every server is back, or disabled by the rule',
        settled !== undefined && unjust.length === 0,
        `${running.size} back, ${disabled.length} disabled${settled === undefined ? `; ${RECOVERY_S} s later no more` : ` ${after(settled)}`}`,
      ),
      finding(
        'as many open files as before, or fewer',
        end.files <= before.files,
        `${before.files} before, ${end.files} after`,
      ),
      finding(
        `memory grows by less than ${GROWTH_MB} MB`,
        end.memory - before.memory < GROWTH_MB,
        `at most ${before.memory.toFixed(0)} MB before, ${end.memory.toFixed(0)} MB after`,
      ),
      finding(
        'no process is left behind',
        clean !== undefined,
        left.length === 0 ? 'none' : `${left.length} left`,
      ),
    ];
  },
};

/**
 * @param {Awaited<ReturnType<typeof start>>} subject
 * @param {() => number} random
 */
function callOf(subject, random) {
  const key = pick(random);
  return { key, name: subject.tool(key, 'slow'), args: { ms: Math.floor(random() * 200) } };
}

/** @param {() => number} random */
function pick(random) {
  return keys[Math.floor(random() * keys.length)] ?? '';
}

/**
 * @param {Awaited<ReturnType<typeof start>>} subject
 * @param {string} key
 */
async function isUp(subject, key) {
  return (await subject.client.call(subject.tool(key, 'pid'))).text !== undefined;
}

/**
 * @param {string[]} killed
 * @param {{ mark: string; seconds: number; random: () => number }} options
 */
async function killOneASecond(killed, { mark, seconds, random }) {
  for (let second = 0; second < seconds; second++) {
    const key = pick(random);
    for (const pid of processesEndingWith(`${mark}-${key}`)) if (kill(pid)) killed.push(key);
    await delay(1000);
  }
}
