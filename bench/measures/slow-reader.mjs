import { setTimeout as sleep } from 'node:timers/promises';
import { callLine, countLines } from '../client.mjs';
import { memoryOf, resetPeak } from '../processes.mjs';
import { benchServers } from '../variants.mjs';

export const title = 'A client that stops reading: 300 results of 1 MB';
export const pinned = true;
const CALLS = 300;

export async function run({ variants, quick }) {
  const able = variants.filter(({ name }) => name === 'weir' || (!quick && name !== 'direct'));
  const results = [];
  for (const variant of able) results.push(await measure(variant));
  const weir = results.find(({ name }) => name === 'weir');
  return {
    tables: [
      {
        columns: ['', 'MB before', 'grown by MB', 'grown by MB when all is read', 'answered'],
        rows: results.map((r) => [
          r.name,
          r.before / 1e6,
          r.grown / 1e6,
          r.grownAfter / 1e6,
          `${r.answered}/${CALLS}`,
        ]),
      },
    ],
    figures: { 'grown by MB': weir.grown / 1e6, 'answered ÷ asked': weir.answered / CALLS },
  };
}

async function measure(variant) {
  const { client, own, nameOf } = await variant.start(benchServers(1));
  await sleep(500);
  resetPeak(own);
  const before = memoryOf(own).resident;
  client.child.stdout.pause();
  for (let i = 0; i < CALLS; i++) client.send(callLine(client, nameOf(i), { bytes: 1e6 }));
  const grown = (await settledPeak(own)) - before;
  const answered = await drain(client);
  const grownAfter = memoryOf(own).peak - before;
  await client.close();
  return { name: variant.name, before, grown, grownAfter, answered };
}

/** The peak, once it has not moved for two seconds: the server needs a moment for 300 MB, too. */
async function settledPeak(own) {
  let peak = 0;
  for (let calm = 0; calm < 20; calm++) {
    await sleep(100);
    const now = memoryOf(own).peak;
    if (now > peak) calm = 0;
    peak = now;
  }
  return peak;
}

function drain(client) {
  let answered = 0;
  return client.takeOver((done) => {
    const timer = setTimeout(() => done(answered), 30_000);
    client.ondata = (chunk) => {
      answered += countLines(chunk);
      if (answered < CALLS) return;
      clearTimeout(timer);
      done(answered);
    };
    client.child.stdout.resume();
  });
}
