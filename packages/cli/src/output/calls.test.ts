import type { ToolInvocationRequest } from '@weir/gateway';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { selectCalls, showCall, showCalls } from './calls.ts';

const ALL = {};

function call(id: string, more: Partial<ToolInvocationRequest> = {}): ToolInvocationRequest {
  return {
    id,
    serverId: 'files',
    toolName: 'read',
    source: 'mcp-client',
    status: 'success',
    submittedAt: Number(id),
    startedAt: Number(id),
    completedAt: Number(id) + 12,
    retryAttempt: 0,
    maxRetries: 0,
    ...more,
  };
}

describe('selectCalls', () => {
  verifies(
    'HEALTH-7',
    'selectCalls returns each call once with its end, oldest first, at most the last 100',
    () => {
      const { completedAt: _, ...underWay } = call('2', { status: 'executing' });
      const calls = [call('3'), call('2'), underWay, call('1')];
      expect(selectCalls(calls, ALL).map(({ id, status }) => [id, status])).toEqual([
        ['1', 'success'],
        ['2', 'success'],
        ['3', 'success'],
      ]);
      expect(selectCalls(calls.toReversed(), { ...ALL, limit: 2 }).map(({ id }) => id)).toEqual(['2', '3']);
      const many = Array.from({ length: 150 }, (_, at) => call(String(at)));
      expect(selectCalls(many, ALL)).toEqual(many.slice(50));
    },
  );

  verifies('HEALTH-7', 'selectCalls keeps the order of calls of the same millisecond', () => {
    const calls = ['x-10', 'x-9', 'x-11'].map((id) => call(id, { submittedAt: 5 }));
    expect(selectCalls(calls, ALL).map(({ id }) => id)).toEqual(['x-9', 'x-10', 'x-11']);
  });

  verifies('HEALTH-7', 'selectCalls filters by server and by failure', () => {
    const calls = [
      call('1', { serverId: 'a' }),
      call('2', { status: 'error' }),
      call('3', { status: 'timeout' }),
      call('4', { status: 'cancelled' }),
    ];
    expect(selectCalls(calls, { ...ALL, server: 'a' }).map(({ id }) => id)).toEqual(['1']);
    expect(selectCalls(calls, { ...ALL, failed: true }).map(({ id }) => id)).toEqual(['2', '3']);
  });
});

test('showCalls aligns columns, colours only terminals and removes control characters', () => {
  const error = { message: 'no\u001B[2J\nway' };
  const calls = [call('1'), call('2', { toolName: 'a long name', status: 'error', retryAttempt: 1, error })];
  const [heading = '', first = '', second = ''] = showCalls(calls, { isColoured: false }).split('\n');
  for (const line of [first, second]) expect(line.indexOf('mcp-client')).toBe(heading.indexOf('CLIENT'));
  expect(second).toMatch(/attempt 2, no\?\[2J\?way$/u);
  expect(first).not.toContain('\u001B');
  expect(showCalls(calls, { isColoured: true })).toContain('\u001B[31merror\u001B[0m');
  expect(showCall(calls[0] as ToolInvocationRequest, { isColoured: false })).toMatch(
    /^\S+ \S+ {2}files +read +success +12 ms +mcp-client\n$/u,
  );
});

test('the heading of a followed history is aligned with later rows and fits the terminal', () => {
  const looks = { isColoured: false, width: 80 };
  const [heading = ''] = showCalls([], looks, true).split('\n');
  const [first = '', ...rest] = showCall(call('1'), looks).split('\n');
  expect(first.indexOf('mcp-client')).toBe(heading.indexOf('CLIENT'));
  expect(rest).toEqual(['']);
  expect(showCall(call('1'), { ...looks, width: 40 }).split('\n')).toHaveLength(2);
});
