// The completion scripts in real shells: each completes a command line as a user would with the tab key.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../packages/cli/src/commands/table.ts';
import { findCommand, packageEnvironment } from '../../../scripts/debian-packages.mjs';
import { bin, temporaryFolder } from '../../support/harness.ts';

type Shell = 'bash' | 'zsh' | 'fish';

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
  ['weir --config my', ['my config.json']],
  ['weir ps --config my', ['my config.json']],
  ['weir --state my', []],
];

/** Packages of Debian with the shell, and libraries that few machines have. */
const PACKAGES: Readonly<Record<Shell, string[]>> = {
  bash: ['bash'],
  zsh: ['zsh', 'zsh-common'],
  fish: ['fish', 'fish-common', 'libpcre2-32-0'],
};

/** Completes each line once in a session of the shell; returns what it offers for each. */
const COMPLETE: Readonly<Record<Shell, (where: Place) => readonly string[][]>> = { bash, zsh, fish };

describe.concurrent.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  const found = findCommand(shell, PACKAGES[shell]);

  test.skipIf(found === undefined)(`${shell} completes commands, options, words and files`, () => {
    const { path = '', unpacked = '' } = found ?? {};
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'my config.json'), '{}');
    const { stdout } = spawnSync(process.execPath, [bin('weir'), 'completion', shell], { encoding: 'utf8' });
    writeFileSync(join(folder, 'script'), stdout);
    const offers = COMPLETE[shell]({ path, unpacked, folder });
    const table = CASES.map(([line], index) => [line, [...(offers[index] ?? [])].toSorted()]);
    expect(table).toEqual(CASES.map(([line, offered]) => [line, offered.toSorted()]));
  });
});

/** A shell, the root of its packages, and a folder with one file and the completion script. */
interface Place {
  readonly path: string;
  readonly unpacked: string;
  readonly folder: string;
}

function bash({ path, folder }: Place): string[][] {
  return CASES.map(([line]) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const call = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _weir`;
    return run(path, folder, `source ./script\n${call}; printf '%s\\n' "\${COMPREPLY[@]}"`);
  });
}

function fish({ path, folder, unpacked }: Place): string[][] {
  const functions = `set -p fish_function_path '${join(unpacked, 'usr/share/fish/functions')}'\n`;
  return CASES.map(([line]) =>
    run(path, folder, `${functions}source ./script\ncomplete -C '${line}'`, libraries(unpacked)).map(
      (offer) => unquoted(offer.split('\t')[0] ?? ''),
    ),
  );
}

/**
 * Only a shell on a terminal completes: zsh opens one for another zsh and types the lines there. That one writes its offers
 * into a file, a line `.` after those of each line.
 */
function zsh({ path, folder, unpacked }: Place): string[][] {
  const setUp = `
module_path=(${unpacked}/usr/lib/*/zsh/*(/N) $module_path)
fpath=(${unpacked}/usr/share/zsh/functions/**/*(/N) $fpath)
`;
  writeFileSync(
    join(folder, 'inner'),
    `${setUp}
autoload -Uz compinit && compinit -u -D
source ./script
compadd() {
  if (( \${argv[(I)-[a-zA-Z0-9]#[OAD]]} )); then builtin compadd "$@"; return; fi
  local -a offers
  builtin compadd -O offers "$@"
  (( $#offers )) && print -rl -- $offers >> ./offers
  builtin compadd "$@"
}
offer() { _main_complete; print . >> ./offers; compstate[insert]= compstate[list]= }
zle -C offer list-choices offer
bindkey '^I' offer
`,
  );
  const lines = CASES.map(([line]) => `'${line}'`).join(' ');
  run(
    path,
    folder,
    `${setUp}
setopt extended_glob
zmodload zsh/zpty
: > ./offers
zpty shell ${path} -f -i
zpty -w shell 'setopt extended_glob; source ./inner'
typeset -i count=0 patience
for line in ${lines}; do
  count+=1 patience=500
  zpty -w -n shell $'\\C-u'"$line"$'\\t'
  while (( patience-- )) && [[ $(grep -c '^[.]$' ./offers) -lt $count ]]; do
    zpty -r -t shell text
    sleep 0.02
  done
done
zpty -d shell`,
  );
  const offers = readFileSync(join(folder, 'offers'), 'utf8').split('.\n');
  return offers.map((part) => [...new Set(part.split('\n').filter((line) => line !== ''))].map(unquoted));
}

function unquoted(offer: string): string {
  return offer.replaceAll('\\', '');
}

function libraries(unpacked: string): Record<string, string> {
  return unpacked === '/' ? {} : packageEnvironment(unpacked);
}

/** Runs a shell in its folder; returns the lines that it prints. */
function run(shell: string, folder: string, script: string, more: Record<string, string> = {}): string[] {
  const env = { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', ...more };
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 20_000 } as const;
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], options);
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}
