/** Commands with a bundle of their own: the code of the others would slow their start down. `entries/` has one entry file per bundle. */
const OWN = ['serve', 'lock', 'docker'] as const;

/** Bundle of a command; `control` has all commands without one of their own. */
export type Bundle = 'stdio' | 'control' | (typeof OWN)[number];

/** Returns the bundle for the first word of a command line; any bundle reports an unknown word. */
export function bundleFor(word: string | undefined): Bundle {
  if (word === undefined || word.startsWith('-')) return 'stdio';
  return OWN.find((name) => name === word) ?? 'control';
}

/** Rewrites `help` and `help COMMAND` to the option `--help`, which every command has. */
export function withHelpOption(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  return [...argv.slice(1, 2).filter((word) => word !== 'help'), '--help'];
}
