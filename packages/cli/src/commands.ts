/** The commands that speak to gateways that run. */
export const CONTROL_COMMANDS = [
  'ps',
  'history',
  'logs',
  'enable',
  'disable',
  'restart',
  'pause',
  'resume',
  'stop',
] as const;

/** The words that a command line may begin with; without one of them the gateway runs on stdio. */
export const COMMANDS: readonly string[] = ['serve', 'lock', 'docker', ...CONTROL_COMMANDS];

/** The files of the build; each command is in one of them. */
export type CommandFile = 'stdio' | 'serve' | 'lock' | 'docker' | 'control';

export function fileOf(word: string | undefined): CommandFile {
  if (word === 'serve' || word === 'lock' || word === 'docker') return word;
  return (CONTROL_COMMANDS as readonly (string | undefined)[]).includes(word) ? 'control' : 'stdio';
}

/** Writes `help` and `help COMMAND` as the option that every command understands. */
export function withHelpOption(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' ? [...argv.slice(1, 2), '--help'] : argv;
}

export function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

/** True for the options that print the version of the product, where no value follows. */
export function isVersion(word: string): boolean {
  return word === '--version' || word === '-v';
}
