import { setTimeout as delay } from 'node:timers/promises';
// @ts-check
// Fuzzing of servers and clients at once, beside honest ones: first on `weir serve`, then on stdio, where one client is both.
import { fileURLToPath } from 'node:url';
import { start } from '../chaos/subjects.mjs';
import { fight, figuresOf, honestServers, mistakesIn } from './arena.mjs';
import { Probe } from './measure.mjs';
import { Random } from './random.mjs';

/** @typedef {import('./arena.mjs').Outcome} Outcome */

const SERVERS = 4;
const CLIENTS = 3;

/**
 * @param {{ seconds: number; seed: number; gateway?: string | undefined }} options
 * @returns {Promise<Outcome>}
 */
export function fuzzHttp({ seconds, seed, gateway }) {
  const clients = Array.from({ length: CLIENTS }, (_, i) => ['fuzz-client.mjs', String(seed + 100 + i)]);
  return fight({ clients, entries: fuzzServers(seed), honest: 4 }, { seconds, gateway });
}

/** @param {number} seed */
function fuzzServers(seed) {
  const script = fileURLToPath(new URL('fuzz-server.mjs', import.meta.url));
  const entry = (/** @type {number} */ i) => ({
    command: process.execPath,
    args: [script, String(seed + i)],
  });
  return Object.fromEntries(Array.from({ length: SERVERS }, (_, i) => [`f${i}`, entry(i)]));
}

/**
 * Random lines of the only client, between calls whose answers must be right.
 * @param {{ seconds: number; seed: number; gateway?: string | undefined }} options
 * @returns {Promise<Outcome>}
 */
export async function fuzzStdio({ seconds, seed, gateway }) {
  const probe = new Probe();
  const kept = honestServers(2);
  const subject = await start(
    'weir',
    { ...kept, ...fuzzServers(seed) },
    { gateway, probe, expected: Object.keys(kept) },
  );
  await probe.begin();
  const random = new Random(seed);
  const until = performance.now() + seconds * 1000;
  /** @type {number[]} */
  const times = [];
  const errors = [];
  for (let call = 0; performance.now() < until && subject.isRunning; call++) {
    for (let i = random.below(30); i >= 0; i--)
      subject.child.stdin.write(Buffer.concat([lineFrom(random), NEWLINE]));
    const began = performance.now();
    const { text, error } = await subject.client.call(subject.tool(`h${call % 2}`, 'echo'), {
      text: `call ${call}`,
    });
    if (text !== `call ${call}`) errors.push(error ?? text ?? 'no answer');
    times.push(performance.now() - began);
    await delay(random.below(5));
  }
  const isAlive = subject.isRunning;
  const figures = await figuresOf(probe);
  await subject.end();
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  const honest = { calls: times.length, errors, crossed: 0, p50: at(0.5), p99: at(0.99), slowest: at(1) };
  return { honest, figures, isAlive, mistakes: mistakesIn(subject.log), left: 0, cpu: {} };
}

const NEWLINE = Buffer.from('\n');

/** What could answer, cancel or replace an honest call, whose ids are numbers. */
const MEDDLING = /"id" *: *[-\d]|"initialize"|cancelled/u;

/**
 * A random line without a line break that does not meddle with honest calls: they are of the same client.
 * @param {Random} random
 */
function lineFrom(random) {
  for (;;) {
    const line = random.line().toString('latin1').replaceAll('\n', ' ');
    if (!MEDDLING.test(line)) return Buffer.from(line, 'latin1');
  }
}
