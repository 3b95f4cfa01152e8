import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { refusedNames } from './hosts.ts';
import { joinName } from './names.ts';

function hint(names: readonly string[], separator: string, noPrefix = false): string | undefined {
  const tools = names.map((originalName) => ({
    serverKey: 'files',
    originalName,
    publicName: noPrefix ? originalName : joinName('files', originalName, separator),
  }));
  return refusedNames(tools, { separator, noPrefix, order: ['files'] });
}

describe('which hosts refuse which names', () => {
  verifies('AGG-SEP-3', 'is nothing to speak of where all names are plain', () => {
    expect(hint([], ':')).toBeUndefined();
    expect(hint(['read', 'write'], '__')).toBeUndefined();
    expect(hint(['read', 'write'], ':', true)).toBeUndefined();
  });

  verifies('AGG-SEP-3', 'is one sentence for hosts that refuse the same, and one with the remedy', () => {
    expect(hint(['read', 'write'], ':')).toBe(
      "Claude Desktop, OpenAI, Codex, the Anthropic API, Claude Code and Cursor refuse 2 of 2 tool names, such as 'files:read', or the whole list because of it. " +
        'Start with --separator __ for names that all of them accept.',
    );
  });

  verifies('AGG-SEP-3', 'some accept a name of 64 characters and refuse a name of 65 characters', () => {
    const hosts = (length: number): string =>
      hint(['x'.repeat(length)], ':', true)?.split(' refuse')[0] ?? '';
    expect(hosts(64)).toBe('Cursor');
    expect(hosts(65)).toBe('Claude Desktop, OpenAI, Codex and Cursor');
  });

  verifies('AGG-SEP-3', 'differs by host: in length and in letters', () => {
    expect(hint(['read', 'x'.repeat(70)], ':', true)).toBe(
      `Claude Desktop, OpenAI, Codex and Cursor refuse the tool name '${'x'.repeat(70)}', or the whole list because of it. ` +
        'Start with --separator __ instead of --no-prefix for names that all but Cursor accept.',
    );
    expect(hint(['read', 'read-all'], '__')).toBe(
      "Cursor refuses the tool name 'files__read-all': accepted are letters, digits and _, at most 60.",
    );
  });
});
