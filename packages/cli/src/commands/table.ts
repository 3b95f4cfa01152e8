// Every command with its options, as data: the parser, the help, the hints for typos and the completion scripts read this table.
// The code of a command is in the file of its name in this folder.
import type { Program } from '../program.ts';
import {
  readAllowedHost,
  readBudget,
  readCount,
  readDuration,
  readHost,
  readPort,
  readSize,
  type Values,
} from '../values.ts';

export interface Option {
  /** Name as it is typed, such as `--port`. */
  readonly name: string;
  /** Placeholder of the value in the help; a flag has none. Shells complete FILE and DIR. */
  readonly value?: string;
  /** Value that the error about a missing one shows. */
  readonly example?: string;
  readonly summary: string | ((program: Program) => string);
  /** Remark for a command that does not have the option. */
  readonly hint?: string;
  /** Stores the value, which is empty for a flag; throws a `UsageError` for one that is not valid. */
  readonly set: (values: Values, text: string) => unknown;
}

/** Names of the commands that have code; the compiler fails where an entry in `entries/` leaves one out. */
export type CommandName =
  | 'stdio'
  | 'serve'
  | 'ps'
  | 'history'
  | 'logs'
  | 'enable'
  | 'disable'
  | 'restart'
  | 'pause'
  | 'resume'
  | 'stop'
  | 'lock'
  | 'docker'
  | 'new'
  | 'completion';

export interface Command {
  readonly name: CommandName | 'help';
  /** Line in the list of commands. */
  readonly summary: string;
  /** Placeholder of the one word beside the options; `a|b` lists its possible values, brackets make it optional. */
  readonly argument?: string;
  /** Options in the usage; all others stand for `[options]`. */
  readonly usage?: string;
  readonly options: readonly Option[];
  /** Options that belong to stdio, too: the help refers to its list. */
  readonly shared?: readonly Option[];
  /** Text under the options. */
  readonly notes?: string | ((program: Program) => string);
}

/** Meaning and example of a placeholder, for the error about a missing argument. */
export const PLACEHOLDERS: Readonly<Record<string, { readonly meaning: string; readonly example: string }>> =
  {
    SERVER: { meaning: 'the name of a server', example: 'files' },
    FOLDER: { meaning: 'the name of a new folder', example: 'my-server' },
  };

const CONFIG: Option = {
  name: '--config',
  value: 'FILE',
  example: 'mcp.json',
  summary: 'config file with "mcpServers", as MCP hosts have it',
  set: (values, text) => (values.configPath = text),
};

const GROUP: Option = {
  name: '--group',
  value: 'NAME',
  example: 'dev',
  summary: 'serve only this group of the config',
  hint: 'on HTTP the path /mcp/NAME chooses a group',
  set: (values, text) => (values.group = text),
};

const STARTUP_TIMEOUT: Option = {
  name: '--startup-timeout',
  value: 'TIME',
  example: '20s',
  summary: 'limit for a start (default 5s; npx etc. 60s)',
  set: (values, text) => (values.startupTimeout = readDuration(text)),
};

const MAX_MESSAGE_SIZE: Option = {
  name: '--max-message-size',
  value: 'SIZE',
  example: '64M',
  summary: 'size of the largest message (default 64M)',
  set: (values, text) => (values.maxMessageSize = readSize(text)),
};

const STATE: Option = {
  name: '--state',
  value: 'DIR',
  example: '/var/lib/weir',
  summary: "state folder (default $WEIR_STATE or the system's)",
  set: (values, text) => (values.state = text),
};

const DEBUG: Option = {
  name: '--debug',
  summary: 'log names, start times and the time of each call',
  set: (values) => (values.debug = true),
};

const LOG_FILE: Option = {
  name: '--log-file',
  value: 'FILE',
  example: 'weir.log',
  summary: 'write the log to this file instead of stderr',
  set: (values, text) => (values.logFile = text),
};

const JSON_OUTPUT: Option = {
  name: '--json',
  summary: 'print JSON',
  set: (values) => (values.json = true),
};

/** The same for a command that prints lines as they come. */
const JSON_LINES: Option = { ...JSON_OUTPUT, summary: 'print JSON, one value per line' };

/** Options that start a gateway, on stdio and on HTTP. */
const START: readonly Option[] = [
  {
    name: '--separator',
    value: 'TEXT',
    example: '__',
    summary: ({ defaults }) => `text between server and tool name (default "${defaults.separator}")`,
    set: (values, text) => (values.separator = text),
  },
  {
    name: '--no-prefix',
    summary: 'list tools under their own names',
    set: (values) => (values.noPrefix = true),
  },
  {
    name: '--keep-going',
    summary: ({ defaults }) => `continue without servers that fail${defaults.keepGoing ? ' (default)' : ''}`,
    set: (values) => (values.keepGoing = true),
  },
  {
    name: '--fail-fast',
    summary: ({ defaults }) => `exit if a server fails to start${defaults.keepGoing ? '' : ' (default)'}`,
    set: (values) => (values.failFast = true),
  },
  {
    name: '--lazy',
    summary: 'start each server at its first call (see lock)',
    set: (values) => (values.lazy = true),
  },
  {
    name: '--fresh',
    summary: 'wait for the servers; list nothing from the cache',
    set: (values) => (values.fresh = true),
  },
  STARTUP_TIMEOUT,
  MAX_MESSAGE_SIZE,
  {
    name: '--instructions-budget',
    value: 'N',
    example: '2000',
    summary: 'characters for the instructions (default 2000)',
    set: (values, text) => (values.instructionsBudget = readBudget(text)),
  },
  {
    name: '--name',
    value: 'TEXT',
    example: 'my-tools',
    summary: ({ defaults }) => `name for clients (default ${defaults.name})`,
    set: (values, text) => (values.name = text),
  },
  {
    name: '--version',
    value: 'TEXT',
    example: '2.1.0',
    summary: ({ defaults }) => `version for clients (default ${defaults.version})`,
    set: (values, text) => (values.version = text),
  },
  STATE,
  {
    name: '--history-arguments',
    summary: 'keep the arguments of calls in the history',
    set: (values) => (values.history = 'arguments'),
  },
  DEBUG,
  LOG_FILE,
];

/** Options that choose among the running gateways. */
const CHOICE: readonly Option[] = [
  { ...CONFIG, summary: 'only gateways with this config' },
  {
    name: '--pid',
    value: 'NUMBER',
    example: '4711',
    summary: 'only the gateway with this process id',
    set: (values, text) => (values.pid = readCount('--pid', text)),
  },
  { ...STATE, summary: 'state folder of the gateways, if not the default' },
];

/** Options of a command that changes a gateway. */
const CHANGE: readonly Option[] = [...CHOICE, JSON_LINES];

const SEVERAL = 'If several gateways are running, choose one with --config or --pid.';

/** Runs where the command line names no command. */
export const STDIO: Command = {
  name: 'stdio',
  summary: 'serve one client on stdin and stdout',
  usage: '--config FILE',
  options: [CONFIG, GROUP, ...START],
};

/** Named commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'serve many clients over HTTP',
    usage: '--config FILE',
    options: [
      CONFIG,
      {
        name: '--demo',
        summary: 'serve a few small servers, to try it out',
        set: (values) => (values.demo = true),
      },
      {
        name: '--host',
        value: 'ADDRESS',
        example: '127.0.0.1',
        summary: 'address to listen on (default 127.0.0.1)',
        set: (values, text) => (values.host = readHost(text)),
      },
      {
        name: '--port',
        value: 'NUMBER',
        example: '8808',
        summary: 'port to listen on (default 8808; 0 picks one)',
        set: (values, text) => (values.port = readPort(text)),
      },
      {
        name: '--allowed-host',
        value: 'HOST',
        example: 'tools.lan:8808',
        summary: 'further name, with its port, that clients may use',
        set: (values, text) =>
          (values.allowedHosts = [...(values.allowedHosts ?? []), readAllowedHost(text)]),
      },
      {
        name: '--no-auth',
        summary: 'require no token; only on this machine',
        set: (values) => (values.auth = false),
      },
      {
        name: '--metrics-public',
        summary: 'serve /metrics without a token',
        set: (values) => (values.metricsPublic = true),
      },
    ],
    shared: START,
    notes: ({ name }) => `Clients connect to /mcp (Streamable HTTP) or /sse (HTTP+SSE) and send the token
it prints: "Authorization: Bearer TOKEN". Also: /healthz, /readyz, /metrics.

Examples:
  ${name} serve --demo
  ${name} serve --config mcp.json --port 9000
  ${name} serve --config mcp.json --host 0.0.0.0`,
  },
  {
    name: 'ps',
    summary: 'list running gateways and their servers',
    options: [
      {
        name: '--token',
        summary: 'show the token of gateways on HTTP',
        set: (values) => (values.token = true),
      },
      {
        name: '--watch',
        summary: 'show every change, until Ctrl-C',
        set: (values) => (values.watch = true),
      },
      ...CHOICE,
      JSON_OUTPUT,
    ],
    notes: 'If no gateway is running, --json prints an empty list and the exit code is 0.',
  },
  {
    name: 'history',
    summary: 'list recent tool calls',
    options: [
      {
        name: '--follow',
        summary: 'print further calls as they end, until Ctrl-C',
        set: (values) => (values.follow = true),
      },
      { name: '--failed', summary: 'only calls that failed', set: (values) => (values.failed = true) },
      {
        name: '--server',
        value: 'SERVER',
        example: 'files',
        summary: 'only calls of this server',
        set: (values, text) => (values.server = text),
      },
      {
        name: '--limit',
        value: 'NUMBER',
        example: '20',
        summary: 'the last calls only (default 100)',
        set: (values, text) => (values.limit = readCount('--limit', text)),
      },
      ...CHOICE,
      JSON_LINES,
    ],
    notes: `The history holds no arguments, unless a gateway was started with
--history-arguments. It includes calls of gateways that have stopped, unless
--config or --pid chooses a running one.`,
  },
  {
    name: 'logs',
    argument: 'SERVER',
    summary: 'print the stderr of a server',
    options: [
      {
        name: '--follow',
        summary: 'print further lines as they come, until Ctrl-C',
        set: (values) => (values.follow = true),
      },
      ...CHOICE,
      JSON_OUTPUT,
    ],
    notes: 'Weir keeps the last 200 lines of each server, across its restarts.',
  },
  {
    name: 'enable',
    argument: 'SERVER',
    summary: 'enable a disabled server and start it',
    options: CHANGE,
    notes: SEVERAL,
  },
  {
    name: 'disable',
    argument: 'SERVER',
    summary: 'stop a server and keep it stopped',
    options: CHANGE,
    notes: `${SEVERAL}\nThe server stays disabled after a restart of the gateway, until it is enabled.`,
  },
  {
    name: 'restart',
    argument: 'SERVER',
    summary: 'stop a server and start it again',
    options: CHANGE,
    notes: SEVERAL,
  },
  {
    name: 'pause',
    summary: 'cancel running calls and reject new ones',
    options: CHANGE,
    notes: SEVERAL,
  },
  { name: 'resume', summary: 'accept calls again', options: CHANGE, notes: SEVERAL },
  {
    name: 'stop',
    summary: 'stop a gateway after its running calls',
    options: CHANGE,
    notes: `${SEVERAL}\nA host may start its gateway again.`,
  },
  {
    name: 'lock',
    summary: 'write what the servers offer to weir.lock.json',
    usage: '--config FILE',
    options: [CONFIG, STARTUP_TIMEOUT, MAX_MESSAGE_SIZE, STATE, DEBUG, LOG_FILE],
    notes: ({ name }) => `Starts every server once; weir.lock.json stands beside the config. Commit it:
the same servers give the same text. With --lazy, or "lazy": true in an entry,
Weir lists from it, starts a server at its first call and stops it after ten
minutes without one. If a server fails to start, Weir writes nothing.

Example:
  ${name} lock --config mcp.json`,
  },
  {
    name: 'docker',
    argument: 'ps|gc',
    summary: 'list containers, or remove orphaned ones',
    usage: '[--json]',
    options: [JSON_OUTPUT],
    notes: `  ps  lists containers: name, server, image, status and gateway
  gc  removes containers whose gateway has ended, and no others

Gateways with containers do the same as gc, when they start and once a minute.
A gateway on another machine or in a container is "elsewhere": Weir cannot tell
whether it is running, so it leaves its containers alone.

Weir uses the engine of the docker command (DOCKER_HOST, contexts).`,
  },
  {
    name: 'new',
    argument: 'FOLDER',
    summary: 'write a server of your own, ready to start',
    options: [{ ...CONFIG, summary: 'enter the server in this config file, too' }],
    notes: ({ name }) => `Writes a TypeScript server with one tool, its test, and a config of its own.
See docs/first-server.md for how to go on.

Example:
  ${name} new my-server`,
  },
  {
    name: 'completion',
    argument: 'bash|zsh|fish',
    summary: 'print a completion script for your shell',
    options: [],
    notes: ({ name }) => `Load it in the start-up file of your shell:
  bash  source <(${name} completion bash)
  zsh   source <(${name} completion zsh)
  fish  ${name} completion fish | source`,
  },
  { name: 'help', argument: '[COMMAND]', summary: 'show this text, or the help of a command', options: [] },
];

/** Returns the command that the first word names; without one it is stdio. */
export function commandFor(word: string | undefined): Command {
  return COMMANDS.find(({ name }) => name === word) ?? STDIO;
}

/** Returns all options that a command takes. */
export function optionsOf({ options, shared = [] }: Command): readonly Option[] {
  return [...options, ...shared];
}

/** Returns what a user types to run the command, such as `weir serve`. */
export function titleOf(command: Command, { name }: Pick<Program, 'name'>): string {
  return command === STDIO ? name : `${name} ${command.name}`;
}

/** Returns the placeholder of the command's argument without the brackets that make it optional. */
export function placeholderOf(command: Command): string {
  const { argument = '' } = command;
  return isArgumentOptional(command) ? argument.slice(1, -1) : argument;
}

/** Returns true where the command line may leave the argument out. */
export function isArgumentOptional({ argument = '' }: Command): boolean {
  return argument.startsWith('[');
}

/** Returns the possible values of the command's argument, if they are fixed. */
export function choicesOf(command: Command): readonly string[] {
  const placeholder = placeholderOf(command);
  return placeholder.includes('|') ? placeholder.split('|') : [];
}
