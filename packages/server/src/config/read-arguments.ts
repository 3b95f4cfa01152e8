import { nearestFlag } from './nearest-flag.ts';

/** Flags and what follows them: `none` for a switch, `value` for a word, `boolean` for a switch that may have `=false`. */
const FLAGS = {
  '--stdio': 'none',
  '--port': 'value',
  '--host': 'value',
  '--headless': 'boolean',
  '--no-headless': 'none',
  '--log-level': 'value',
  '--redirect-uri': 'value',
} as const;

export type Flag = keyof typeof FLAGS;

/** Flags of a command line with their values; undefined for a flag without a value. */
export type Given = ReadonlyMap<Flag, string | undefined>;

/** Reads a command line up to `--` and adds a text to `mistakes` for each argument that cannot be used. */
export function readArguments(args: readonly string[], known: readonly string[], mistakes: string[]): Given {
  const given = new Map<Flag, string | undefined>();
  const others = known.map((name) => (name.startsWith('-') ? name : `--${name}`));
  for (let at = 0; at < args.length && args[at] !== '--'; at++) {
    const { name, value } = splitArgument(args[at] ?? '');
    const next = valueIn(args[at + 1]);
    if (!isFlag(name)) {
      // The word behind an unknown flag is its value, and is not shown: it may be a secret.
      if (name.startsWith('-') && value === undefined && next !== undefined) at++;
      if (!others.includes(name)) mistakes.push(unknown(name, at, [...Object.keys(FLAGS), ...others]));
    } else {
      const takesNext = FLAGS[name] === 'value' && value === undefined && next !== undefined;
      if (takesNext) at++;
      if (given.has(name) && FLAGS[name] === 'value') mistakes.push(`${name} is given more than once`);
      if (FLAGS[name] === 'none' && value !== undefined) mistakes.push(`${name} takes no value`);
      given.set(name, takesNext ? next : value);
    }
  }
  return given;
}

function isFlag(name: string): name is Flag {
  return Object.hasOwn(FLAGS, name);
}

function splitArgument(word: string): { name: string; value: string | undefined } {
  const equals = word.startsWith('-') ? word.indexOf('=') : -1;
  return equals < 0
    ? { name: word, value: undefined }
    : { name: word.slice(0, equals), value: word.slice(equals + 1) };
}

/** Returns a word that is a value: no flag, though a negative number begins like one. */
function valueIn(word: string | undefined): string | undefined {
  return word === undefined || /^-(?!\d)/u.test(word) ? undefined : word;
}

/** Names the argument only where it is a flag or near to one. Any other word may be a secret. */
function unknown(name: string, at: number, flags: readonly string[]): string {
  const nearest = nearestFlag(name, flags);
  const isNamed = /^--?[A-Za-z][\w-]{0,39}$/u.test(name) || (nearest !== undefined && name.length < 16);
  const subject = isNamed ? `Unknown argument ${name}` : `Unknown argument at position ${at + 1}`;
  if (nearest !== undefined) return `${subject}; did you mean ${nearest}?`;
  return `${subject}; allowed are ${flags.join(', ')}`;
}
