// The official suite must not notice the gateway: each check has the same verdict through it as directly.
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import type { Make } from './conformance-server.ts';
import { noJudges } from './judges.ts';
import { byScenario, differences, EXCEPTIONS, LEGS, runLeg, type Leg } from './legs.ts';
import type { Requirements, Verdict } from './run-conformance.ts';
import { printTable } from './table.ts';

const RUNS: readonly { requirements: Requirements; make: Make }[] = [
  { requirements: '2025-11-25', make: 'dual' },
  { requirements: '2026-07-28', make: 'dual' },
  { requirements: '2025-11-25', make: 'legacy' },
];
const [, ...THROUGH] = LEGS;
const PATIENCE_MS = 180_000;

describe.each(RUNS)('the conformance suite and a server', ({ requirements, make }) => {
  const what = `a ${make} server passes ${requirements}`;
  const verdicts = new Map<Leg, Verdict[]>();
  const judge = async (leg: Leg): Promise<Verdict[]> => {
    const found = verdicts.get(leg) ?? (await runLeg(leg, requirements, make));
    verdicts.set(leg, found);
    return found;
  };
  afterAll(() => {
    const title = `${requirements}, ${make} server`;
    printTable({ title, legs: LEGS, verdicts, exceptions: EXCEPTIONS });
  });

  for (const leg of THROUGH) {
    verifies.skipIf(noJudges)(
      'ERA-3',
      `${what} through the gateway (${leg}) as directly`,
      async () => {
        const [direct, through] = [await judge('direct'), await judge(leg)];
        const known = Object.keys(byScenario(direct));
        const expected = known.filter((scenario) => EXCEPTIONS[leg]?.[scenario] === undefined);
        expect(Object.keys(byScenario(through))).toEqual(expected);
        expect(differences(direct, through)).toEqual([]);
      },
      PATIENCE_MS,
    );
  }
});
