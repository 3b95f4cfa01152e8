import { DEFAULT_PORT, isLoopback, validateSeparator, type CliArgs } from '@weir/gateway';
import { COMMANDS, isHelp, isVersion } from './commands.ts';
import { PROGRAM, type Program } from './program.ts';
import { stateFolder } from './state-folder.ts';

/** What the command line asks for. */
export type Command =
  | { run: 'help'; of: 'stdio' | 'serve' | 'docker' | 'lock' }
  | { run: 'version' }
  | { run: 'stdio'; args: StdioArgs }
  | { run: 'lock'; args: CliArgs }
  | { run: 'serve'; args: ServeArgs }
  | { run: 'docker'; args: DockerArgs };

/** What `weir docker` is told. */
interface DockerArgs {
  action: 'ps' | 'gc';
  json: boolean;
}

/** Arguments with their defaults: clients are told a name and a version of the server. */
export type StdioArgs = CliArgs &
  Required<Pick<CliArgs, 'name' | 'version'>> & {
    /** The group of the config that the client sees. */
    group?: string;
  };

/** What `weir serve` is told. The demo brings its own config. */
export interface ServeArgs extends Omit<StdioArgs, 'configPath'> {
  configPath: string | undefined;
  demo: boolean;
  host: string;
  port: number;
  /** Whether clients must show a token. */
  auth: boolean;
  allowedHosts: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** Whose usage is to be shown. */
  of: 'stdio' | 'serve' | 'lock' | 'docker' = 'stdio';
  /** That usage, where it is of none of these. */
  usage: string | undefined;
}

/** Fields under construction; which of them are required is judged at the end. */
type Draft = Partial<ServeArgs> & { failFast?: boolean };

interface ValueOption {
  /** What a value looks like, for who has forgotten it. */
  readonly example: string;
  readonly set: (draft: Draft, value: string) => void;
}

const VALUES: Readonly<Record<string, ValueOption>> = {
  '--config': { example: 'mcp.json', set: (draft, value) => (draft.configPath = value) },
  '--separator': { example: '__', set: (draft, value) => (draft.separator = value) },
  '--startup-timeout': {
    example: '20s',
    set: (draft, value) => (draft.startupTimeout = readDuration(value)),
  },
  '--max-message-size': { example: '64M', set: (draft, value) => (draft.maxMessageSize = readSize(value)) },
  '--instructions-budget': {
    example: '2000',
    set: (draft, value) => (draft.instructionsBudget = readBudget(value)),
  },
  '--name': { example: 'my-tools', set: (draft, value) => (draft.name = value) },
  '--version': { example: '2.1.0', set: (draft, value) => (draft.version = value) },
  '--state': { example: '/var/lib/weir', set: (draft, value) => (draft.state = value) },
  '--log-file': { example: 'weir.log', set: (draft, value) => (draft.logFile = value) },
};

const FLAGS: Readonly<Record<string, (draft: Draft) => void>> = {
  '--no-prefix': (draft) => (draft.noPrefix = true),
  '--keep-going': (draft) => (draft.keepGoing = true),
  '--fail-fast': (draft) => (draft.failFast = true),
  '--lazy': (draft) => (draft.lazy = true),
  '--fresh': (draft) => (draft.fresh = true),
  '--debug': (draft) => (draft.debug = true),
  '--history-arguments': (draft) => (draft.history = 'arguments'),
};

/** What a command understands. */
interface Options {
  readonly values: Readonly<Record<string, ValueOption>>;
  readonly flags: typeof FLAGS;
}

const STDIO: Options = {
  values: { ...VALUES, '--group': { example: 'dev', set: (draft, value) => (draft.group = value) } },
  flags: FLAGS,
};

/** Servers are started, but nothing is served. */
const LOCK: Options = {
  values: pick(VALUES, ['--config', '--startup-timeout', '--max-message-size', '--state', '--log-file']),
  flags: pick(FLAGS, ['--debug']),
};

const SERVE: Options = {
  values: {
    ...VALUES,
    '--host': { example: '127.0.0.1', set: (draft, value) => (draft.host = readHost(value)) },
    '--port': { example: String(DEFAULT_PORT), set: (draft, value) => (draft.port = readPort(value)) },
    '--allowed-host': {
      example: 'tools.lan:8808',
      set: (draft, value) => (draft.allowedHosts = [...(draft.allowedHosts ?? []), readAllowedHost(value)]),
    },
  },
  flags: {
    ...FLAGS,
    '--no-auth': (draft) => (draft.auth = false),
    '--demo': (draft) => (draft.demo = true),
  },
};

const OPTIONS = { stdio: STDIO, serve: SERVE, lock: LOCK } as const;

/** Reads the command line; throws a `UsageError` at the first thing that makes no sense. */
export function parseArguments(
  argv: readonly string[],
  env: Environment,
  program: Program = PROGRAM,
): Command {
  if (argv[0] === 'docker') return parseDocker(argv.slice(1));
  const run = argv[0] === 'serve' || argv[0] === 'lock' ? argv[0] : 'stdio';
  const options = OPTIONS[run];
  const words = run === 'stdio' ? argv : argv.slice(1);
  if (run === 'stdio') checkCommand(argv[0]);
  const draft: Draft = {};
  for (let at = 0; at < words.length; at++) {
    const { option, value } = splitOption(words[at] as string);
    if (isHelp(option)) return { run: 'help', of: run };
    if (isVersion(option) && value === undefined && (option === '-v' || isBare(words[at + 1])))
      return { run: 'version' };
    if (Object.hasOwn(options.flags, option)) raiseFlag(option, value, { draft, options });
    else if (Object.hasOwn(options.values, option))
      setValue(option, value ?? following(option, words[++at]), { draft, options });
    else throw new UsageError(unknownOption(option, options));
  }
  checkNames(draft, program);
  if (run === 'lock') return { run, args: complete(draft, env) };
  const given = withDefaults(draft, program);
  return run === 'serve' ? { run, args: completeServe(given, env) } : { run, args: complete(given, env) };
}

/** `weir docker ps|gc [--json]`. */
function parseDocker(words: readonly string[]): Command {
  if (words.some(isHelp)) return { run: 'help', of: 'docker' };
  if (words.some(isVersion)) return { run: 'version' };
  const [action, ...more] = words.filter((word) => word !== '--json');
  if (action !== 'ps' && action !== 'gc')
    throw dockerUsage(
      action === undefined
        ? `${PROGRAM.name} docker needs ps or gc`
        : `Unknown: ${PROGRAM.name} docker ${action}`,
    );
  if (more[0] !== undefined) throw dockerUsage(`Unexpected argument: ${more[0]}`);
  return { run: 'docker', args: { action, json: words.includes('--json') } };
}

function dockerUsage(message: string): UsageError {
  return Object.assign(new UsageError(message), { of: 'docker' as const });
}

function pick<T>(all: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}

/** `--name=value` is split; a value that follows as its own argument is taken later. */
function splitOption(argument: string): { option: string; value: string | undefined } {
  const equals = argument.startsWith('--') ? argument.indexOf('=') : -1;
  if (equals < 0) return { option: argument, value: undefined };
  return { option: argument.slice(0, equals), value: argument.slice(equals + 1) };
}

/** `--version` stands for itself at the end and before another option. */
function isBare(next: string | undefined): boolean {
  return next === undefined || next.startsWith('-');
}

interface Reading {
  readonly draft: Draft;
  readonly options: Options;
}

function raiseFlag(option: string, value: string | undefined, { draft, options }: Reading): void {
  if (value !== undefined) throw new UsageError(`${option} takes no value`);
  options.flags[option]?.(draft);
}

/** Whatever follows `--separator` is one, also `--`; for the others an option in its place means a forgotten value. */
function following(option: string, next: string | undefined): string | undefined {
  return option === '--separator' || !next?.startsWith('--') ? next : undefined;
}

function setValue(option: string, value: string | undefined, { draft, options }: Reading): void {
  const { example, set } = options.values[option] as ValueOption;
  // An empty separator has a text of its own.
  const isMissing = value === undefined || (value === '' && option !== '--separator');
  if (isMissing) throw new UsageError(`${option} needs a value, as in ${option} ${example}`);
  set(draft, value);
}

function unknownOption(option: string, { values, flags }: Options): string {
  if (!option.startsWith('-')) return unexpected(option);
  const { serve, stdio } = OPTIONS;
  if (option === '--group')
    return `Unknown option: ${option} (it belongs to ${PROGRAM.name}; on HTTP the path /mcp/NAME chooses a group)`;
  if (Object.hasOwn({ ...stdio.values, ...stdio.flags }, option))
    return `Unknown option: ${option} (it belongs to ${PROGRAM.name} and ${PROGRAM.name} serve)`;
  if (Object.hasOwn({ ...serve.values, ...serve.flags }, option))
    return `Unknown option: ${option} (it belongs to ${PROGRAM.name} serve)`;
  const known = [...Object.keys(values), ...Object.keys(flags), '--help'];
  const meant = nearest(option, known);
  return `Unknown option: ${option}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
}

function unexpected(argument: string): string {
  return `Unexpected argument: ${argument}${isFile(argument) ? ` (did you mean --config ${argument}?)` : ''}`;
}

function isFile(argument: string): boolean {
  return /\.jsonc?$/iu.test(argument);
}

/** Throws where the first word is meant as a command and is none. */
function checkCommand(word: string | undefined): void {
  if (word === undefined || !/^\w/u.test(word) || isFile(word)) return;
  const meant = nearest(word, [...COMMANDS, 'help']);
  throw new UsageError(
    `Unknown command: ${word}${meant === undefined ? '' : ` (did you mean ${PROGRAM.name} ${meant}?)`}`,
  );
}

/** The known word that this one is the beginning of, or is like but for a slip in one place. */
function nearest(written: string, known: readonly string[]): string | undefined {
  const near = known.filter((word) => isNear(written, word));
  return near.sort((one, other) => slips(written, one) - slips(written, other))[0];
}

function isNear(written: string, known: string): boolean {
  if (known.startsWith(written)) return written.length > 3;
  // Short words are all alike: half of one must be right.
  return slips(written, known) <= Math.min(2, known.length / 2);
}

/** Counts the letters between the beginning and the end that two words share. */
function slips(written: string, known: string): number {
  const shorter = Math.min(written.length, known.length);
  let front = 0;
  while (front < shorter && written[front] === known[front]) front++;
  let back = 0;
  while (back < shorter - front && written.at(-1 - back) === known.at(-1 - back)) back++;
  return Math.max(written.length, known.length) - front - back;
}

function checkNames({ separator, noPrefix }: Draft, { defaults }: Program): void {
  if (separator === undefined) return;
  checkSeparator(separator, defaults.separator);
  if (noPrefix)
    throw new UsageError('--separator and --no-prefix exclude each other: plain names have no separator');
}

type Given = Draft & Pick<StdioArgs, 'name' | 'version'>;

/** Fills in what the name of the program decides. */
function withDefaults({ failFast = false, ...draft }: Draft, { defaults }: Program): Given {
  if (failFast && draft.keepGoing === true)
    throw new UsageError('--fail-fast and --keep-going exclude each other: choose one');
  return { ...defaults, ...draft, ...(failFast && { keepGoing: false }) };
}

function complete<D extends Draft>(draft: D, env: Environment): D & { configPath: string } {
  const { configPath } = draft;
  if (configPath === undefined)
    throw new UsageError('--config is missing: it names the file with your servers');
  return { ...draft, configPath, ...stateOf(draft, env) };
}

function completeServe(draft: Given, env: Environment): ServeArgs {
  const { configPath, demo = false, host = '127.0.0.1', port = DEFAULT_PORT, auth = true } = draft;
  if (configPath === undefined && !demo)
    throw new UsageError('--config is missing: it names the file with your servers (--demo brings some)');
  if (configPath !== undefined && demo)
    throw new UsageError('--config and --demo exclude each other: the demo brings its own servers');
  if (!auth && !isLoopback(host))
    throw new UsageError(
      `--no-auth is for this machine alone: with --host ${host} everybody could call your servers`,
    );
  return { allowedHosts: [], ...draft, configPath, demo, host, port, auth, ...stateOf(draft, env) };
}

function stateOf(draft: Draft, env: Environment): { state?: string } {
  const state = draft.state ?? stateFolder(env);
  return state === undefined ? {} : { state };
}

function checkSeparator(separator: string, fallback: string): void {
  try {
    validateSeparator(separator, fallback);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const SIZES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Beyond it a timer of the runtime would fire at once. */
const LONGEST_DURATION = 2 ** 31 - 1;

/** Milliseconds; a bare number is seconds. */
function readDuration(text: string): number {
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/u.exec(text) ?? [];
  const milliseconds = Number(digits) * (DURATIONS[unit] ?? Number.NaN);
  if (milliseconds > 0 && milliseconds <= LONGEST_DURATION) return milliseconds;
  throw new UsageError(`--startup-timeout takes a time such as 20s or 500ms, not '${text}'`);
}

/** A part of a message may have to become a string, and Node has none that is longer. */
const LARGEST_SIZE = 512 * 1024 ** 2;

/** Bytes. */
function readSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([KMG])?(?:i?B)?$/iu.exec(text) ?? [];
  const bytes = Number(digits) * (SIZES[unit.toUpperCase()] ?? Number.NaN);
  if (bytes > 0 && bytes <= LARGEST_SIZE) return bytes;
  throw new UsageError(`--max-message-size takes a size such as 64M, at most 512M, not '${text}'`);
}

/** UTF-16 units; seven digits are more than any host passes on. */
function readBudget(text: string): number {
  if (/^\d{1,7}$/u.test(text)) return Number(text);
  throw new UsageError(`--instructions-budget takes a number of characters such as 2000, not '${text}'`);
}

/** Brackets belong to URLs. */
function readHost(text: string): string {
  return text.replace(/^\[(.*)\]$/u, '$1');
}

/** What a Host header may hold: with anything else the name would be allowed in vain. */
function readAllowedHost(text: string): string {
  if (/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(text)) return text;
  throw new UsageError(`--allowed-host takes a name with its port, such as tools.lan:8808, not '${text}'`);
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port takes a number up to 65535 (0 for any that is free), not '${text}'`);
}
