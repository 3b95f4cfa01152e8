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
      'isLimited names the requests that make a server work',
      isLimited,
      ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'],
    ],
    [
      'mayRequireInput names the requests whose results may ask for input',
      mayRequireInput,
      ['tools/call', 'prompts/get', 'resources/read'],
    ],
    [
      'hasNamedTarget names the requests that may name an unknown target',
      hasNamedTarget,
      ['tools/call', 'prompts/get', 'resources/read'],
    ],
    [
      'isCacheable names the requests whose results carry cache hints',
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
      'isTaskMethod names the task methods of the legacy era',
      (method) => isTaskMethod(method, 'legacy'),
      ['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/list'],
    ],
    [
      'isTaskMethod names the task methods of the modern era',
      (method) => isTaskMethod(method, 'modern'),
      ['tasks/get', 'tasks/update', 'tasks/cancel'],
    ],
    [
      'isRemoved names the methods that the modern era has removed, except for tasks',
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

  it('namedInHeader returns the member that the header Mcp-Name repeats', () => {
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

  it('capabilityFor returns the capability that a question needs', () => {
    assert.equal(capabilityFor('elicitation/create'), 'elicitation');
    assert.equal(capabilityFor('sampling/createMessage'), 'sampling');
    assert.equal(capabilityFor('roots/list'), 'roots');
    assert.equal(capabilityFor('tools/call'), undefined);
  });

  it('listedBy knows one request for each list', () => {
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

  it('QUESTION_CAPABILITIES lists every capability that a question needs', () => {
    const needed = Object.values(Method).map(capabilityFor);
    assert.deepEqual(new Set(QUESTION_CAPABILITIES), new Set(needed.filter((each) => each !== undefined)));
  });
});
