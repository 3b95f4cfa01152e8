import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { formatLocation, formatPath } from './json-path.ts';

describe('paths', () => {
  verifies(
    'AGG-CFG-2',
    'formatPath writes keys with dots, and in brackets where a key is not an identifier',
    () => {
      expect(formatPath([])).toBe('$');
      expect(formatPath(['mcpServers', 'files', 'args', 1])).toBe('$.mcpServers.files.args[1]');
      expect(formatPath(['mcpServers', 'my server', 'args'])).toBe('$.mcpServers["my server"].args');
      expect(formatPath(['mcpServers', '', 'a"b\n'])).toBe('$.mcpServers[""]["a\\"b\\n"]');
    },
  );

  verifies('AGG-ENV-2', 'formatLocation writes a path without its root', () => {
    expect(formatLocation([])).toBe('');
    expect(formatLocation(['mcpServers', 'postgres', 'env', 'DATABASE_URL'])).toBe(
      'mcpServers.postgres.env.DATABASE_URL',
    );
    expect(formatLocation(['my key', 0])).toBe('["my key"][0]');
  });
});
