// The official suite plays a server and judges its client: ours by itself, and the gateway that stands in between.
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { noJudges } from './judges.ts';
import { clientScenarios, runClientScenario, type ClientScenario, type Verdict } from './run-conformance.ts';
import { printTable } from './table.ts';

const WAYS = ['direct', 'stdio', 'http'] as const;
type Way = (typeof WAYS)[number];

const program = fileURLToPath(new URL('client-through.mjs', import.meta.url));
const scenarios = noJudges === undefined ? await clientScenarios() : [];

describe('client scenarios of the conformance suite', () => {
  const verdicts = new Map<Way, Verdict[]>();
  afterAll(() => printTable({ title: 'client scenarios, through', legs: WAYS, verdicts }));

  verifies.skipIf(noJudges)(
    'ERA-3',
    'the suite has client scenarios of both revisions and of extensions',
    () => {
      const counted = ['2025-11-25', '2026-07-28', undefined].map(
        (revision) => scenarios.filter(({ requirements }) => requirements === revision).length,
      );
      expect(counted).toEqual([5, 8, 4]);
    },
  );

  for (const scenario of scenarios) {
    const { scenario: name, requirements = 'an extension' } = scenario;
    const label = `${name} of ${requirements}`;
    verifies.skipIf(noJudges)('ERA-3', `the gateway does not change the verdict on ${label}`, async () => {
      const [direct = [], onStdio, onHttp] = await Promise.all(WAYS.map((way) => judged(way, scenario)));
      for (const [index, way] of WAYS.entries()) {
        const found = [direct, onStdio, onHttp][index]?.map((verdict) => ({ ...verdict, scenario: label }));
        verdicts.set(way, [...(verdicts.get(way) ?? []), ...(found ?? [])]);
      }
      expect(unmet(direct)).toEqual([]);
      expect(direct.length).toBeGreaterThan(0);
      expect(compared(direct, onStdio)).toEqual(compared(direct, direct));
      expect(compared(direct, onHttp)).toEqual(compared(direct, direct));
    });
  }
});

async function judged(way: Way, scenario: ClientScenario): Promise<Verdict[]> {
  const verdicts = await runClientScenario(`node ${program} ${way}`, scenario);
  // Checks of optional features that the client lacks are skipped; a gateway may have these features.
  return verdicts.filter(({ status }) => status !== 'INFO' && status !== 'SKIPPED');
}

function unmet(verdicts: readonly Verdict[] = []): Verdict[] {
  return verdicts.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
}

/** Returns the verdicts on each of the client's checks, and all other failures: a gateway may ask for more. */
function compared(direct: readonly Verdict[] = [], verdicts: readonly Verdict[] = []): Verdict[] {
  const known = new Set(direct.map(({ check }) => check));
  const isOfInterest = ({ check, status }: Verdict): boolean => known.has(check) || status !== 'SUCCESS';
  return verdicts.filter(isOfInterest).toSorted((a, b) => a.check.localeCompare(b.check));
}
