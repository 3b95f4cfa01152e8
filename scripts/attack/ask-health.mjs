// @ts-check
// A thread that asks for a URL every 5 ms and keeps the longest answer; a message makes it tell that.
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const INTERVAL_MS = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
/** The time when the request in flight began. */
let began = Number.POSITIVE_INFINITY;

await ask();
longest = 0;
parentPort?.on('message', () => parentPort?.postMessage(Math.max(longest, performance.now() - began)));
parentPort?.postMessage('ready');
for (;;) {
  await ask();
  await delay(INTERVAL_MS);
}

async function ask() {
  began = performance.now();
  await /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const request = get(workerData, { agent }, (response) => response.resume().once('end', resolve));
      // A gateway that hangs up is asked again; one that has ended answers nobody.
      request.once('error', () => resolve());
    })
  );
  longest = Math.max(longest, performance.now() - began);
  began = Number.POSITIVE_INFINITY;
}
