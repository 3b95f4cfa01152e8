import type { Context } from '../context.ts';
import type { Program } from '../program.ts';
import type { Values } from '../values.ts';
import { choicesOf, COMMANDS, optionsOf, STDIO, type Command, type Option } from './table.ts';

/** Prints a completion script for one of the shells, generated from the command table. */
export function completion(
  { argument }: Values,
  { output, program }: Pick<Context, 'output' | 'program'>,
): void {
  if (argument === 'zsh') output.write(zsh(program));
  else output.write(argument === 'fish' ? fish(program) : bash(program));
}

const HELP: Option = { name: '--help', summary: 'print the help', set: () => {} };
const NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

function offered(command: Command): readonly Option[] {
  return [...optionsOf(command), HELP];
}

/** Returns the words that can follow a command, as far as they are fixed. */
function wordsAfter(command: Command): readonly string[] {
  return command.name === 'help' ? NAMES : choicesOf(command);
}

function textOf({ summary }: Option, program: Program): string {
  return typeof summary === 'string' ? summary : summary(program);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Returns the branches of a `case` over the first word, that of stdio last. */
function branches(body: (command: Command) => string): string {
  return [...COMMANDS, STDIO]
    .map((command) => `    ${command === STDIO ? '*' : command.name}) ${body(command)} ;;`)
    .join('\n');
}

/** Works in bash 3.2, the version of macOS, which has neither `mapfile` nor `compopt`. */
function bash(program: Program): string {
  const name = `_${program.name.replaceAll('-', '_')}`;
  const all = new Map([STDIO, ...COMMANDS].flatMap(optionsOf).map((option) => [option.name, option.value]));
  const taking = (fits: (value: string) => boolean): string =>
    [...all].flatMap(([option, value]) => (value !== undefined && fits(value) ? [option] : [])).join('|');
  const body = (command: Command): string =>
    `options='${offered(command)
      .map((option) => option.name)
      .join(' ')}' words='${wordsAfter(command).join(' ')}'`;
  return `# bash completion for ${program.name}; load it with: source <(${program.name} completion bash)
${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" options words
  COMPREPLY=()
  case "$before" in
    ${taking((value) => value === 'FILE')})
      local IFS=$'\\n'; compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- "$word")); return ;;
    ${taking((value) => value === 'DIR')})
      local IFS=$'\\n'; compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$word")); return ;;
    ${taking((value) => value !== 'FILE' && value !== 'DIR')}) return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${branches(body)}
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then words='${NAMES.join(' ')}'; fi
  if [[ "$word" == -* || -z "$words" ]]; then words="$options"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F ${name} ${program.name}
`;
}

// `_files -/` would offer files where no folder fits.
const ZSH_ACTIONS: Readonly<Record<string, string>> = { FILE: '_files', DIR: '_path_files -/' };

function zsh(program: Program): string {
  const name = `_${program.name}`;
  const option = (one: Option): string => {
    const summary = textOf(one, program).replaceAll(/[[\]:]/gu, String.raw`\$&`);
    const value = one.value === undefined ? '' : `:${one.value}:${ZSH_ACTIONS[one.value] ?? ' '}`;
    return quoted(`${one.name}[${summary}]${value}`);
  };
  const body = (command: Command): string => {
    const words = wordsAfter(command);
    const specs = [
      ...(words.length > 0 ? [quoted(`1:${command.name}:(${words.join(' ')})`)] : []),
      ...offered(command).map(option),
    ];
    return `_arguments \\\n      ${specs.join(' \\\n      ')}`;
  };
  return `#compdef ${program.name}
# zsh completion for ${program.name}; load it with: source <(${program.name} completion zsh)
${name}() {
  local -a commands
  commands=(
    ${COMMANDS.map((command) => quoted(`${command.name}:${command.summary}`)).join('\n    ')}
  )
  if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then
    _describe command commands
    return
  fi
  local command="$words[2]"
  if (( \${commands[(I)$command:*]} )); then
    shift words
    (( CURRENT -= 1 ))
  fi
  case "$command" in
${branches(body)}
  esac
}
if [[ "$funcstack[1]" == ${name} ]]; then ${name} "$@"; else compdef ${name} ${program.name}; fi
`;
}

const FISH_ACTIONS: Readonly<Record<string, string>> = {
  FILE: '-r -F',
  DIR: "-x -a '(__fish_complete_directories)'",
};

function fish(program: Program): string {
  const isCommand = `__${program.name.replaceAll('-', '_')}_is`;
  const line = (...parts: readonly string[]): string => `complete -c ${program.name} ${parts.join(' ')}`;
  const after = (command: Command): string =>
    `-n ${quoted(command === STDIO ? `not ${isCommand} ${NAMES.join(' ')}` : `${isCommand} ${command.name}`)}`;
  const option = (command: Command, one: Option): string => {
    const value = one.value === undefined ? [] : [FISH_ACTIONS[one.value] ?? '-x'];
    return line(after(command), `-l ${one.name.slice(2)}`, ...value, `-d ${quoted(textOf(one, program))}`);
  };
  const first = `-n ${quoted('test (count (commandline -opc)) -eq 1')}`;
  return `# fish completion for ${program.name}; load it with: ${program.name} completion fish | source
function ${isCommand}
  set -l words (commandline -opc)
  contains -- "$words[2]" $argv
end
${[
  line('-f'),
  ...COMMANDS.map(({ name, summary }) => line(first, `-a ${name}`, `-d ${quoted(summary)}`)),
  ...COMMANDS.filter((command) => wordsAfter(command).length > 0).map((command) =>
    line(after(command), `-a ${quoted(wordsAfter(command).join(' '))}`),
  ),
  ...[STDIO, ...COMMANDS].flatMap((command) => offered(command).map((one) => option(command, one))),
].join('\n')}
`;
}
