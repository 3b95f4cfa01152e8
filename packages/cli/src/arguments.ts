import { isAbsolute, join } from 'node:path';
import { validateSeparator, type CliArgs } from '@weir/gateway';

/** What the command line asks for. */
export type Command = { run: 'help' } | { run: 'version' } | { run: 'serve'; args: CliArgs };

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Fields under construction; which of them are required is judged at the end. */
type Draft = Partial<CliArgs>;

/** Options that take a value, and what to do with it. */
const VALUES: Readonly<Record<string, (draft: Draft, value: string) => void>> = {
  '--config': (draft, value) => void (draft.configPath = value),
  '--log-file': (draft, value) => void (draft.logFile = value),
  '--name': (draft, value) => void (draft.name = value),
  '--version': (draft, value) => void (draft.version = value),
  '--separator': (draft, value) => void (draft.separator = value),
  '--startup-timeout': (draft, value) => void (draft.startupTimeout = readDuration('--startup-timeout', value)),
  '--max-message-size': (draft, value) => void (draft.maxMessageSize = readSize('--max-message-size', value)),
  '--state': (draft, value) => void (draft.state = value),
};

const FLAGS: Readonly<Record<string, (draft: Draft) => void>> = {
  '--debug': (draft) => void (draft.debug = true),
  '--no-prefix': (draft) => void (draft.noPrefix = true),
  '--keep-going': (draft) => void (draft.keepGoing = true),
};

/** Reads the command line; throws a `UsageError` at the first thing that makes no sense. */
export function parseArguments(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Command {
  const draft: Draft = {};
  for (let i = 0; i < argv.length; i++) {
    const { option, value } = splitOption(argv[i] as string);
    const next = argv[i + 1];
    if (option === '--help' || option === '-h') return { run: 'help' };
    if (option === '--version' && value === undefined && (next === undefined || next.startsWith('-'))) return { run: 'version' };
    if (Object.hasOwn(FLAGS, option) && value === undefined) FLAGS[option]?.(draft);
    else if (Object.hasOwn(VALUES, option)) VALUES[option]?.(draft, value ?? takeValue(option, argv[++i]));
    else throw new UsageError(unknownOption(argv[i] as string));
  }
  return { run: 'serve', args: complete(draft, env) };
}

/** `--name=value` is split; a value that follows as its own argument is taken later. */
function splitOption(argument: string): { option: string; value: string | undefined } {
  const equals = argument.startsWith('--') ? argument.indexOf('=') : -1;
  if (equals < 0) return { option: argument, value: undefined };
  return { option: argument.slice(0, equals), value: argument.slice(equals + 1) };
}

/** Whatever follows a separator is one, also `--`; for the others an option in its place means a forgotten value. */
function takeValue(option: string, next: string | undefined): string {
  const isMissing = next === undefined || (option !== '--separator' && next.startsWith('--'));
  if (isMissing) throw new UsageError(`${option} needs a value, as in ${EXAMPLES[option]}`);
  return next;
}

const EXAMPLES: Readonly<Record<string, string>> = {
  '--config': '--config mcp.json',
  '--log-file': '--log-file weir.log',
  '--name': '--name my-tools',
  '--separator': '--separator __',
  '--startup-timeout': '--startup-timeout 20s',
  '--max-message-size': '--max-message-size 64M',
  '--state': '--state ~/.weir',
};

function unknownOption(argument: string): string {
  const what = argument.startsWith('-') ? 'Unknown option' : 'Unexpected argument';
  return `${what}: ${argument.split('=', 1)[0]}`;
}

function complete(draft: Draft, env: Readonly<Record<string, string | undefined>>): CliArgs {
  const { configPath } = draft;
  if (configPath === undefined || configPath === '') throw new UsageError('--config <file> is required');
  if (draft.separator !== undefined) checkSeparator(draft.separator);
  if (draft.separator !== undefined && draft.noPrefix) throw new UsageError('--separator and --no-prefix exclude each other: bare names have no separator');
  const state = draft.state ?? stateFolder(env);
  return { ...draft, configPath, ...(state !== undefined && { state }) };
}

function checkSeparator(separator: string): void {
  try {
    validateSeparator(separator);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Where the system wants programs to remember things; relative paths in the environment are to be ignored. */
function stateFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { WEIR_STATE, XDG_STATE_HOME, HOME, LOCALAPPDATA } = env;
  if (WEIR_STATE) return WEIR_STATE;
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'weir');
  if (HOME && isAbsolute(HOME)) return join(HOME, '.local', 'state', 'weir');
  return LOCALAPPDATA ? join(LOCALAPPDATA, 'weir') : undefined;
}

const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const SIZES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Milliseconds; a bare number is seconds. */
function readDuration(option: string, text: string): number {
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/u.exec(text) ?? [];
  const milliseconds = Number(digits) * (DURATIONS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`${option} takes a time such as 20s or 500ms, not '${text}'`);
}

/** Bytes. */
function readSize(option: string, text: string): number {
  const [, digits, unit = ''] = /^(\d+)([KMG])?(?:i?B)?$/iu.exec(text) ?? [];
  const bytes = Number(digits) * (SIZES[unit.toUpperCase()] ?? Number.NaN);
  if (bytes > 0) return bytes;
  throw new UsageError(`${option} takes a size such as 64M, not '${text}'`);
}
