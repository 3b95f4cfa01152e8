import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { readGroupPattern } from './groups.ts';
import { validateConfig } from './validate.ts';

const command = { command: 'npx' };
const messages = (config: unknown): string[] =>
  validateConfig(config).errors.map(({ path, message }) => `${path} ${message}`);

describe('groups', () => {
  const groups = (value: unknown): string[] =>
    messages({ mcpServers: { files: command, git: command, 'a:b': command }, groups: value });

  verifies('AGG-CFG-4', 'a group may name servers and tools of servers', () => {
    const lists = [[], ['files'], ['files', 'git:*', 'git:log_?', 'a:b', 'a:b:c:d']];
    for (const list of lists) expect(groups({ dev: list, 'D.e-v_2': ['files'] })).toEqual([]);
  });

  verifies('AGG-CFG-4', 'an unknown server in a group is an error that names the nearest', () => {
    expect(groups({ dev: ['files', 'gitt:log', 'x', 'a'] })).toEqual([
      '$.groups.dev[1] mcpServers has no server with this key; did you mean "git"?',
      '$.groups.dev[2] mcpServers has no server with this key; add it there, or remove it here',
      '$.groups.dev[3] mcpServers has no server with this key; add it there, or remove it here',
    ]);
  });

  verifies('AGG-CFG-4', 'a group with an empty tool, a wrong shape or an invalid name is an error', () => {
    expect(groups({ dev: ['git:'] })[0]).toContain(
      'write "git:*" for all tools, or "git" for the whole server',
    );
    for (const wrong of [{ dev: 'files' }, { dev: [1] }, { dev: [' '] }, ['files']])
      expect(groups(wrong)[0]).toContain('groups must be an object of lists');
    for (const name of ['', '..', '-a', 'a/b', 'a b', 'ä', 'x'.repeat(65)])
      expect(groups({ [name]: ['files'] })[0]).toContain('The name of a group has 1 to 64 letters');
  });

  verifies('AGG-CFG-4', 'a config with more than 100 groups is an error', () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`g${index}`, ['files']]));
    expect(groups(many)).toEqual([
      '$.groups 101 groups are more than the 100 that one gateway serves: remove some',
    ]);
  });
});

describe('readGroupPattern', () => {
  verifies('AGG-CFG-4', 'readGroupPattern takes the longest matching key, which may contain a colon', () => {
    const keys = ['a', 'a:b', 'c'];
    expect(readGroupPattern('a:b', keys)).toEqual({ serverKey: 'a:b', tools: undefined });
    expect(readGroupPattern('a:b:c', keys)).toEqual({ serverKey: 'a:b', tools: 'c' });
    expect(readGroupPattern('a:c:d', keys)).toEqual({ serverKey: 'a', tools: 'c:d' });
    expect(readGroupPattern('b', keys)).toBeUndefined();
  });
});
