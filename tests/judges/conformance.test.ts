import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectSdk, type Era } from '../support/harness.ts';
import { conformanceCommand, type ConformanceServer, startConformanceServer } from './conformance-server.ts';
import { noJudges } from './judges.ts';
import { type Requirements, runConformance, type Verdict } from './run-conformance.ts';

// Scenarios that the suite lists and does not judge, and the reasons.
const NOT_JUDGED: Readonly<Record<string, string>> = {
  'tasks-status-notifications': 'it is yet to be rewritten for streams that are listened to',
};

const where = noJudges === undefined ? '' : ` (${noJudges})`;

describe.skipIf(noJudges !== undefined)(`the official suite judges our conformance server${where}`, () => {
  let server: ConformanceServer;
  beforeAll(async () => {
    server = await startConformanceServer();
  });
  afterAll(() => server.stop());

  test.each<[Requirements, { passed: number }]>([
    // One check judges streams that are optional: the server answers a list, which needs none, as plain JSON.
    ['2025-11-25', { passed: 83 }],
    ['2026-07-28', { passed: 196 }],
  ])('our conformance server passes all scenarios of %s', async (requirements, { passed }) => {
    const all = await runConformance(server.url, requirements);
    const verdicts = all.filter(({ scenario }) => NOT_JUDGED[scenario] === undefined);
    expect(verdicts.filter(isUnmet)).toEqual([]);
    expect(verdicts.filter(({ status }) => status === 'SUCCESS')).toHaveLength(passed);
  });

  test('a missing server passes no scenario', async () => {
    const verdicts = await runConformance('http://127.0.0.1:1/mcp', '2025-11-25');
    expect(scenarios(verdicts.filter(isUnmet))).toEqual(scenarios(verdicts));
  });
});

describe('our conformance server on stdio', () => {
  test.each<[Era]>([['legacy'], ['modern']])(
    'our conformance server asks a %s client twice in one call',
    async (era) => {
      await using connection = await connectSdk(conformanceCommand(), era, {
        capabilities: { elicitation: {} },
      });
      const { client } = connection;
      const asked: string[] = [];
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { name: 'Ann', color: 'red' } };
      });
      const { content } = await client.callTool({ name: 'test_input_required_result_multi_round' });
      expect(content).toEqual([{ type: 'text', text: 'Ann likes red' }]);
      expect(asked).toHaveLength(2);
    },
  );
});

function scenarios(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.map(({ scenario }) => scenario))];
}

function isUnmet({ status }: Verdict): boolean {
  return status !== 'SUCCESS' && status !== 'INFO';
}
