import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { copesWithNames, nameWarning, refusedNames } from './host-name-rules.ts';
import { joinName } from './names.ts';

describe('names that hosts refuse', () => {
  verifies(
    'AGG-SEP-3',
    'refusedNames returns names with other characters and names over 64 characters',
    () => {
      const long = 'x'.repeat(65);
      expect(refusedNames(['read', 'read-all', 'read_all', 'x'.repeat(64)])).toEqual([]);
      expect(refusedNames(['files:read', 'read', 'read.all', 'größe', '', long])).toEqual([
        'files:read',
        'read.all',
        'größe',
        '',
        long,
      ]);
      expect(refusedNames(['a:b', 'größe', long].map((name) => joinName('my server', name, '__')))).toEqual(
        [],
      );
    },
  );

  verifies('AGG-SEP-3', 'nameWarning names the refused names in one line with a remedy', () => {
    expect(nameWarning(['files:read', 'files:write'], { total: 3, noPrefix: false })).toBe(
      "Claude Desktop, the Anthropic and OpenAI APIs and Cursor refuse 2 of 3 tool names, such as 'files:read'. Start with --separator __ for names that they accept.",
    );
    expect(nameWarning(['write.all'], { total: 3, noPrefix: true })).toBe(
      "Claude Desktop, the Anthropic and OpenAI APIs and Cursor refuse the tool name 'write.all'. Start with --separator __ instead of --no-prefix for names that they accept.",
    );
  });

  verifies('AGG-SEP-3', 'copesWithNames knows the hosts that accept such names', () => {
    expect(['claude-code', 'codex-mcp-client', 'gemini-cli-mcp-client'].every(copesWithNames)).toBe(true);
    expect([undefined, '', 'claude-ai', 'test'].some(copesWithNames)).toBe(false);
  });
});
