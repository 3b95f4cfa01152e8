import assert from 'node:assert/strict';
import { describe, it } from 'vitest';
import {
  capabilityFor,
  hasNamedTarget,
  isCacheable,
  isLimited,
  isRemoved,
  isTaskMethod,
  listedBy,
  mayRequireInput,
  Method,
  namedInHeader,
  QUESTION_CAPABILITIES,
} from './methods.ts';

const ALL: readonly string[] = [...Object.values(Method), 'vendor/method', ''];

describe('the table of methods', () => {
  const questions: readonly [string, (method: string) => boolean, readonly string[]][] = [
    [
      'applies limits to requests that make a server work',
      isLimited,
      ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'],
    ],
    ['lets these results require input', mayRequireInput, ['tools/call', 'prompts/get', 'resources/read']],
    [
      'lets these names be unknown in 2026-07-28',
      hasNamedTarget,
      ['tools/call', 'prompts/get', 'resources/read'],
    ],
    [
      'gives these results cache hints',
      isCacheable,
      [
        'server/discover',
        'tools/list',
        'prompts/list',
        'resources/read',
        'resources/list',
        'resources/templates/list',
      ],
    ],
    [
      'knows the tasks of the legacy era',
      (method) => isTaskMethod(method, 'legacy'),
      ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list'],
    ],
    [
      'knows the tasks of the modern era',
      (method) => isTaskMethod(method, 'modern'),
      ['tasks/get', 'tasks/update', 'tasks/cancel'],
    ],
    [
      'knows what the modern era has removed, but for tasks',
      isRemoved,
      [
        'initialize',
        'ping',
        'resources/subscribe',
        'resources/unsubscribe',
        'logging/setLevel',
        'notifications/initialized',
        'notifications/roots/list_changed',
      ],
    ],
  ];
  for (const [title, holds, methods] of questions)
    it(title, () => assert.deepEqual(ALL.filter(holds), methods));

  it('names the member that the header Mcp-Name repeats', () => {
    const named = ALL.flatMap((method) => {
      const member = namedInHeader(method);
      return member === undefined ? [] : [[method, member]];
    });
    assert.deepEqual(named, [
      ['tools/call', 'name'],
      ['prompts/get', 'name'],
      ['resources/read', 'uri'],
      ['tasks/get', 'taskId'],
      ['tasks/update', 'taskId'],
      ['tasks/cancel', 'taskId'],
    ]);
  });

  it('names the capability that a question needs', () => {
    assert.equal(capabilityFor('elicitation/create'), 'elicitation');
    assert.equal(capabilityFor('sampling/createMessage'), 'sampling');
    assert.equal(capabilityFor('roots/list'), 'roots');
    assert.equal(capabilityFor('tools/call'), undefined);
  });

  it('has one request for each list', () => {
    const lists = Object.values(Method).flatMap((method) => {
      const kind = listedBy(method);
      return kind === undefined ? [] : [`${method} ${kind}`];
    });
    assert.deepEqual(lists, [
      'tools/list tools',
      'prompts/list prompts',
      'resources/list resources',
      'resources/templates/list templates',
    ]);
  });

  it('lists every capability that a question needs', () => {
    const needed = Object.values(Method).map(capabilityFor);
    assert.deepEqual(new Set(QUESTION_CAPABILITIES), new Set(needed.filter((each) => each !== undefined)));
  });
});
