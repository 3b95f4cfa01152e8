import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { programNamed, type ProgramName } from '../program.ts';
import { completion } from './completion.ts';
import { COMMANDS, optionsOf, STDIO } from './table.ts';

type Shell = 'bash' | 'zsh' | 'fish';

const folder = mkdtempSync(join(tmpdir(), 'weir-completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'my config.json'), '{}');

const NAMES = COMMANDS.map(({ name }) => name);

/** Lines with the cursor at their end, and the words that a shell has to offer there. */
const CASES: readonly [line: string, offered: readonly string[]][] = [
  ['weir ', NAMES],
  ['weir se', ['serve']],
  ['weir --con', ['--config']],
  ['weir --lazy --f', ['--fail-fast', '--fresh']],
  ['weir serve --p', ['--port']],
  ['weir serve --la', ['--lazy']],
  ['weir lock --k', []],
  ['weir history --f', ['--failed', '--follow']],
  ['weir docker ', ['gc', 'ps']],
  ['weir docker ps --', ['--help', '--json']],
  ['weir completion ', ['bash', 'fish', 'zsh']],
  ['weir help lo', ['lock', 'logs']],
  ['weir serve --port ', []],
];

function scriptFor(argument: Shell, name: ProgramName = 'weir'): string {
  const output = new PassThrough({ encoding: 'utf8' });
  completion({ argument }, { output, program: programNamed(name) });
  return String(output.read());
}

function isInstalled(shell: Shell): boolean {
  return spawnSync(shell, ['--version']).status === 0;
}

/** Runs a shell in a folder with one file; returns the lines that it prints. */
function run(shell: Shell, script: string): string[] {
  const env = { PATH: process.env['PATH'], HOME: folder };
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { cwd: folder, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

test.each(['bash', 'zsh', 'fish'] as const)('the script for %s names every command and option', (shell) => {
  const script = scriptFor(shell);
  for (const command of NAMES) expect(script).toContain(command);
  for (const { name } of [STDIO, ...COMMANDS].flatMap(optionsOf))
    expect(script).toContain(shell === 'fish' ? `-l ${name.slice(2)} ` : name);
});

test.each(['bash', 'zsh', 'fish'] as const)(
  'the script for %s is for the program that printed it',
  (shell) => {
    expect(scriptFor(shell, 'mcp-weir')).toMatch(/(?:complete|compdef) .*mcp-weir/u);
    expect(scriptFor(shell, 'mcp-weir')).not.toMatch(/(?:complete|compdef) [^\n]* weir$/mu);
  },
);

describe.skipIf(!isInstalled('bash'))('bash', () => {
  const complete = (line: string): string[] => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const call = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _weir`;
    return run('bash', `${scriptFor('bash')}\n${call}; printf '%s\\n' "\${COMPREPLY[@]}"`);
  };

  test.each(CASES)('completes %j', (line, offered) => {
    expect(complete(line).toSorted()).toEqual(offered.toSorted());
  });

  test('completes files for --config and folders for --state', () => {
    expect(complete('weir --config my')).toEqual(['my config.json']);
    expect(complete('weir ps --config my')).toEqual(['my config.json']);
    expect(complete('weir --state my')).toEqual([]);
  });
});

describe.skipIf(!isInstalled('fish'))('fish', () => {
  const complete = (line: string): string[] =>
    run('fish', `${scriptFor('fish')}\ncomplete -C '${line}'`).map((found) => found.split('\t')[0] as string);

  test.each(CASES)('completes %j', (line, offered) => {
    expect(complete(line).toSorted()).toEqual(offered.toSorted());
  });

  test('completes files for --config', () => {
    expect(complete('weir --config my').join()).toContain('config.json');
    expect(complete('weir --state my')).toEqual([]);
  });
});

describe.skipIf(!isInstalled('zsh'))('zsh', () => {
  test('accepts the script', () => {
    const file = join(folder, '_weir');
    writeFileSync(file, scriptFor('zsh'));
    expect(run('zsh', `zsh -n '${file}'`)).toEqual([]);
  });
});
