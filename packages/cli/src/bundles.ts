/**
 * Bundle that holds each command; `entries/` has one entry file per bundle. A start on stdio reads its own bundle only,
 * because compiling the code of the other commands would slow it down.
 */
export const BUNDLES = {
  stdio: 'stdio',
  serve: 'serve',
  ps: 'control',
  history: 'control',
  logs: 'control',
  enable: 'control',
  disable: 'control',
  restart: 'control',
  pause: 'control',
  resume: 'control',
  stop: 'control',
  lock: 'lock',
  docker: 'docker',
  completion: 'control',
} as const;

export type CommandName = keyof typeof BUNDLES;
export type Bundle = (typeof BUNDLES)[CommandName];

/** Returns the bundle for the first word of a command line; every other word is for stdio, which reports mistakes. */
export function bundleFor(word: string | undefined): Bundle {
  return word !== undefined && Object.hasOwn(BUNDLES, word) ? BUNDLES[word as CommandName] : 'stdio';
}

/** Rewrites `help` and `help COMMAND` to the option `--help`, which every command has. */
export function withHelpOption(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  return [...argv.slice(1, 2).filter((word) => word !== 'help'), '--help'];
}
