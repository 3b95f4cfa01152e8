import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectSdk, type Era } from '../e2e/harness.ts';
import { conformanceCommand, type ConformanceServer, startConformanceServer } from './conformance-server.ts';
import { noJudges } from './judges.ts';
import { type Requirements, runConformance, type Verdict } from './run-conformance.ts';

// What our fixture does not do, by the beginning of the scenario's name, and why.
const notDone = {
  'tasks-': 'an optional extension, run without being scored, which the SDK does not implement',
};

const where = noJudges === undefined ? '' : ` (${noJudges})`;

describe.skipIf(noJudges !== undefined)(`the official suite judges our conformance server${where}`, () => {
  let server: ConformanceServer;
  beforeAll(async () => {
    server = await startConformanceServer();
  });
  afterAll(() => server.stop());

  test.each<[Requirements, { passed: number }]>([
    ['2025-11-25', { passed: 84 }],
    ['2026-07-28', { passed: 152 }],
  ])('as all that %s requires', async (requirements, { passed }) => {
    const verdicts = (await runConformance(server.url, requirements)).filter(isDone);
    expect(verdicts.filter(isUnmet)).toEqual([]);
    expect(verdicts.filter(({ status }) => status === 'SUCCESS')).toHaveLength(passed);
  });

  test('and a server that is not there in no scenario', async () => {
    const verdicts = await runConformance('http://127.0.0.1:1/mcp', '2025-11-25');
    expect(scenarios(verdicts.filter(isUnmet))).toEqual(scenarios(verdicts));
  });
});

describe('our conformance server on stdio', () => {
  test.each<[Era]>([['legacy'], ['modern']])('asks a %s client back, twice in one call', async (era) => {
    await using connection = await connectSdk(conformanceCommand, era, { capabilities: { elicitation: {} } });
    const { client } = connection;
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { name: 'Ann', color: 'red' } };
    });
    const { content } = await client.callTool({ name: 'test_input_required_result_multi_round' });
    expect(content).toEqual([{ type: 'text', text: 'Ann likes red' }]);
    expect(asked).toHaveLength(2);
  });
});

function scenarios(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.map(({ scenario }) => scenario))];
}

function isDone({ scenario }: Verdict): boolean {
  return !Object.keys(notDone).some((beginning) => scenario.startsWith(beginning));
}

function isUnmet({ status }: Verdict): boolean {
  return status !== 'SUCCESS' && status !== 'INFO';
}
