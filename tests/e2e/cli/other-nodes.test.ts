// The shipped file on the other releases of Node that it promises to run on.
import { describe, expect } from 'vitest';
import { node22, node24, noJudges } from '../../judges/judges.ts';
import { commandFor, fixture, textOf, Weir } from '../../support/harness.ts';
import { verifies } from '../../verifies.ts';

describe.each([
  ['Node 22', node22],
  ['Node 24', node24],
])('the command on %s', (name, node) => {
  verifies.skipIf(noJudges)('AGG-QA-1', `the command lists, calls and exits with 0 on ${name}`, async () => {
    const command = commandFor({ echo: fixture('echo'), modern: fixture('modern') });
    await using weir = new Weir({ ...command, command: node as string });
    await weir.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    const { result } = await weir.request('tools/list');
    expect(JSON.stringify(result)).toContain('modern:echo');
    const answer = await weir.request('tools/call', { name: 'echo:echo', arguments: { text: 'grüß dich' } });
    expect(textOf(answer)).toBe('grüß dich');
    expect((await weir.close()).code).toBe(0);
  });
});
