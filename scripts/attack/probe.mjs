// @ts-check
// Measures a gateway from inside. Loaded before the command (`NODE_OPTIONS=--import=…`) where WEIR_PROBE names a socket;
// each connection to it gets the figures since the last one as JSON, and starts them anew. `Probe` in measure.mjs is its client.
import { subscribe } from 'node:diagnostics_channel';
import { openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * `longestTurnMs` is the longest time that the event loop did not turn; `longestOwnTurnMs` leaves out what the thread waited for
 * a processor, so that a busy machine does not count. Slices are those of `wire/slices`.
 * @typedef {object} Inside
 * @property {number} longestTurnMs
 * @property {number} longestOwnTurnMs
 * @property {number} slices
 * @property {number} sliceElements the most elements in one slice
 * @property {number} sliceBytes the most bytes in one slice
 * @property {number} highestMb the most resident memory
 * @property {number} residentMb resident memory now
 */

/** The interval of the timer whose lateness is measured, in milliseconds: short against the target of 20 ms. */
const RESOLUTION_MS = 2;

const socket = process.env['WEIR_PROBE'];
// Servers that inherit the whole environment must not load this file.
delete process.env['WEIR_PROBE'];
delete process.env['NODE_OPTIONS'];

if (socket !== undefined) {
  const turns = measureTurns();
  const slices = measureSlices();
  resetPeak();
  const server = createServer((connection) => {
    connection.on('error', () => undefined);
    connection.end(JSON.stringify({ ...turns(), ...slices(), ...takeMemory() }));
  });
  process.once('exit', () => rmSync(socket, { force: true }));
  server.listen(socket).unref();
}

function measureTurns() {
  const waited = createWaitClock();
  let [last, lastWait] = [performance.now(), waited()];
  let [longestTurnMs, longestOwnTurnMs] = [0, 0];
  const tick = () => {
    const [now, wait] = [performance.now(), waited()];
    const turn = Math.max(0, now - last - RESOLUTION_MS);
    longestTurnMs = Math.max(longestTurnMs, turn);
    longestOwnTurnMs = Math.max(longestOwnTurnMs, turn - (wait - lastWait));
    [last, lastWait] = [now, wait];
  };
  setInterval(tick, RESOLUTION_MS).unref();
  return () => {
    // A turn that is not over yet, such as that of this request, counts too.
    tick();
    const figures = { longestTurnMs, longestOwnTurnMs };
    [longestTurnMs, longestOwnTurnMs] = [0, 0];
    return figures;
  };
}

/** Returns a clock of the milliseconds that the main thread was ready to run but had no processor; 0 where no system tells it. */
function createWaitClock() {
  if (process.platform !== 'linux') return () => 0;
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(128);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  };
}

function measureSlices() {
  let [slices, sliceElements, sliceBytes] = [0, 0, 0];
  subscribe('weir:slice', (message) => {
    const { elements, bytes } = /** @type {{ elements: number; bytes: number }} */ (message);
    slices++;
    sliceElements = Math.max(sliceElements, elements);
    sliceBytes = Math.max(sliceBytes, bytes);
  });
  return () => {
    const figures = { slices, sliceElements, sliceBytes };
    [slices, sliceElements, sliceBytes] = [0, 0, 0];
    return figures;
  };
}

function takeMemory() {
  const figures = { highestMb: peakMb(), residentMb: process.memoryUsage.rss() / 2 ** 20 };
  resetPeak();
  return figures;
}

/** Returns the highest resident memory since `resetPeak`; elsewhere than on Linux since the start. */
function peakMb() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

function resetPeak() {
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5');
}
