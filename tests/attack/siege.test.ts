// Hostile and honest peers at once, in short; `npm run attack` does it at length and compares the speed, too.
import { expect } from 'vitest';
import { fight } from '../../scripts/attack/arena.mjs';
import { SIEGE } from '../../scripts/attack/fights.mjs';
import { judge } from '../../scripts/attack/judge.mjs';
import { told } from '../../scripts/attack/measure.mjs';
import { verifies } from '../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

onLinux(
  ['SAFE-4', 'AGG-CALL-1'],
  'ten honest peers get all answers beside five hostile servers and five hostile clients',
  async () => {
    const outcome = await fight(SIEGE.peers, { seconds: 8 });
    const figures = outcome.figures === undefined ? 'the gateway has ended' : told(outcome.figures);
    process.stdout.write(`  p99 ${outcome.honest.p99.toFixed(1)} ms, ${figures}\n`);
    expect(judge(outcome)).toEqual([]);
  },
  120_000,
);
