// @ts-check
// Measures a gateway under attack from inside, through probe.mjs, and from outside, by how long /healthz takes.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';

/** @typedef {import('./probe.mjs').Inside} Inside */

/**
 * Figures from `begin` to `end`. `healthzMs` is the longest answer of /healthz where a URL was given, `growthMb` the highest
 * memory over that of the beginning.
 * @typedef {Inside & { growthMb: number; healthzMs: number | undefined }} Figures
 */

/** Memory of a gateway under attack may be so much over that of its beginning, in MB. */
export const GROWTH_MB = 256;
/** The aim for the longest turn of the event loop; it is printed, and the gate is the size of slices. */
const TARGET_MS = 20;

/** Measures one gateway: pass `env` to its start, then `begin`, attack, `end`. `await using` removes its folder. */
export class Probe {
  #folder = mkdtempSync(join(tmpdir(), 'weir-probe-'));
  #socket = join(this.#folder, 'probe');
  #startMb = 0;
  /** @type {Worker | undefined} */
  #outside;

  /** Variables of the gateway's environment. */
  get env() {
    return {
      NODE_OPTIONS: `--import=${new URL('probe.mjs', import.meta.url).href}`,
      WEIR_PROBE: this.#socket,
    };
  }

  /**
   * Starts the figures.
   * @param {{ url?: string }} [options] any URL of a gateway on HTTP, whose /healthz is then asked all the time
   */
  async begin({ url } = {}) {
    if (url !== undefined) this.#outside = await askHealth(new URL('/healthz', url).href);
    this.#startMb = (await this.#ask()).residentMb;
  }

  /** @returns {Promise<Figures>} */
  async end() {
    const [inside, healthzMs] = [await this.#ask(), await this.#healthz()];
    await this.#stop();
    return { ...inside, growthMb: inside.highestMb - this.#startMb, healthzMs };
  }

  async [Symbol.asyncDispose]() {
    await this.#stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @returns {Promise<Inside>} */
  async #ask() {
    return JSON.parse(await text(connect(this.#socket)));
  }

  /** @returns {Promise<number | undefined>} */
  #healthz() {
    const outside = this.#outside;
    if (outside === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      outside.once('message', resolve);
      outside.postMessage('longest');
    });
  }

  async #stop() {
    await this.#outside?.terminate();
    this.#outside = undefined;
  }
}

/**
 * Asks in a thread of its own, so that work of the attackers in this process does not count; resolves after the first answer.
 * @param {string} url
 * @returns {Promise<Worker>}
 */
function askHealth(url) {
  const worker = new Worker(new URL('ask-health.mjs', import.meta.url), { workerData: url });
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', () => resolve(worker));
  });
}

/**
 * Returns the figures as one line for the output of a test.
 * @param {Figures} figures
 */
export function told({
  longestTurnMs,
  longestOwnTurnMs,
  healthzMs,
  slices,
  sliceElements,
  sliceBytes,
  growthMb,
}) {
  return [
    `longest turn ${longestOwnTurnMs.toFixed(1)} ms (${longestTurnMs.toFixed(1)} ms with waits for a processor; target ${TARGET_MS} ms)`,
    ...(healthzMs === undefined ? [] : [`/healthz ${healthzMs.toFixed(1)} ms`]),
    `largest of ${slices} slices ${sliceElements} elements, ${(sliceBytes / 1024).toFixed(0)} KiB`,
    `memory +${growthMb.toFixed(0)} MB`,
  ].join(', ');
}
