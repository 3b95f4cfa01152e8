// tests/e2e/cli/completion.test.ts tries the scripts in real shells.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { programNamed, type ProgramName } from '../program.ts';
import { completion } from './completion.ts';
import { COMMANDS, optionsOf, STDIO } from './table.ts';

type Shell = 'bash' | 'zsh' | 'fish';

const NAMES = COMMANDS.map(({ name }) => name);

function scriptFor(argument: Shell, name: ProgramName = 'weir'): string {
  const output = new PassThrough({ encoding: 'utf8' });
  completion({ argument }, { output, program: programNamed(name) });
  return String(output.read());
}

test.each(['bash', 'zsh', 'fish'] as const)(
  'the completion script for %s names every command and option',
  (shell) => {
    const script = scriptFor(shell);
    for (const command of NAMES) expect(script).toContain(command);
    for (const { name } of [STDIO, ...COMMANDS].flatMap(optionsOf))
      expect(script).toContain(shell === 'fish' ? `-l ${name.slice(2)} ` : name);
  },
);

test.each(['bash', 'zsh', 'fish'] as const)(
  'the completion script for %s completes the program that printed it',
  (shell) => {
    expect(scriptFor(shell, 'mcp-weir')).toMatch(/(?:complete|compdef) .*mcp-weir/u);
    expect(scriptFor(shell, 'mcp-weir')).not.toMatch(/(?:complete|compdef) [^\n]* weir$/mu);
  },
);
