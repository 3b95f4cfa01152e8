import { resolve } from 'node:path';
import { UsageError } from './arguments.ts';
import { isHelp, isVersion, type CONTROL_COMMANDS } from './commands.ts';
import { controlUsage } from './control-help.ts';
import { PROGRAM } from './program.ts';
import { stateFolder } from './state-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Something to be done with a server, with all calls, or with the gateway. */
export type Action = (typeof CONTROL_COMMANDS)[number];

const NEED_SERVER: readonly Action[] = ['logs', 'enable', 'disable', 'restart'];
const LIMIT = 100;

export interface ControlArgs {
  readonly action: Action;
  /** For the actions on one server. */
  readonly server: string;
  readonly json: boolean;
  /** Shows the token of gateways on HTTP. */
  readonly token: boolean;
  readonly state: string | undefined;
  readonly configPath?: string;
  readonly pid?: number;
  /** What `weir history` shows. */
  readonly shown: Shown;
}

export interface Shown {
  readonly follow: boolean;
  readonly failed: boolean;
  readonly server?: string;
  readonly limit: number;
}

export type ControlCommand = { run: 'help' } | { run: 'version' } | { run: 'control'; args: ControlArgs };

/** Fields under construction. */
interface Draft {
  json?: true;
  token?: true;
  follow?: true;
  failed?: true;
  config?: string;
  pid?: string;
  state?: string;
  server?: string;
  limit?: string;
}

const FLAGS = ['--json', '--token', '--follow', '--failed'] as const;
const VALUES = ['--config', '--pid', '--state', '--server', '--limit'] as const;
/** Options that belong to one action. */
const OWNERS: Readonly<Record<string, Action>> = {
  '--follow': 'history',
  '--failed': 'history',
  '--server': 'history',
  '--limit': 'history',
  '--token': 'ps',
};

/** Reads `weir ps` and its like; throws a `UsageError` at the first thing that makes no sense. */
export function parseControl(argv: readonly string[], env: Environment): ControlCommand {
  const [action, ...words] = argv as [Action, ...string[]];
  if (words.some(isHelp)) return { run: 'help' };
  if (words.some(isVersion)) return { run: 'version' };
  const { draft, names } = read(action, words);
  return { run: 'control', args: complete(action, draft, { names, env }) };
}

function read(action: Action, words: readonly string[]): { draft: Draft; names: string[] } {
  const draft: Record<string, string | true> = {};
  const names: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [, option = '', inline] = /^(--[^=]+)(?:=(.*))?$/su.exec(words[at] as string) ?? [];
    if (option === '') names.push(words[at] as string);
    else if (!isKnown(option) || (OWNERS[option] ?? action) !== action)
      throw wrong(
        `Unknown option: ${option}${isKnown(option) ? ` (it belongs to ${PROGRAM.name} ${OWNERS[option]})` : ''}`,
      );
    else if (isFlag(option) && inline !== undefined) throw wrong(`${option} takes no value`);
    else if (isFlag(option)) draft[option.slice(2)] = true;
    else draft[option.slice(2)] = valueOf(option, inline ?? words[++at]);
  }
  return { draft, names };
}

function isFlag(option: string): boolean {
  return (FLAGS as readonly string[]).includes(option);
}

function isKnown(option: string): boolean {
  return isFlag(option) || (VALUES as readonly string[]).includes(option);
}

function valueOf(option: string, value: string | undefined): string {
  if (value === undefined || value === '') throw wrong(`${option} needs a value`);
  return value;
}

function complete(
  action: Action,
  draft: Draft,
  { names, env }: { names: readonly string[]; env: Environment },
): ControlArgs {
  const [server = '', ...more] = names;
  const needsServer = NEED_SERVER.includes(action);
  if (needsServer && server === '')
    throw wrong(
      `${PROGRAM.name} ${action} needs the name of a server, as in ${PROGRAM.name} ${action} files`,
    );
  const unexpected = needsServer ? more[0] : names[0];
  if (unexpected !== undefined) throw wrong(`Unexpected argument: ${unexpected}`);
  return {
    action,
    server,
    json: draft.json === true,
    token: draft.token === true,
    state: draft.state ?? stateFolder(env),
    ...(draft.config !== undefined && { configPath: resolve(draft.config) }),
    ...(draft.pid !== undefined && { pid: readNumber('--pid', draft.pid) }),
    shown: {
      follow: draft.follow === true,
      failed: draft.failed === true,
      ...(draft.server !== undefined && { server: draft.server }),
      limit: draft.limit === undefined ? LIMIT : readNumber('--limit', draft.limit),
    },
  };
}

function readNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,9}$/u.test(text)) return Number(text);
  throw wrong(`${option} takes a whole number from 1 on, not '${text}'`);
}

function wrong(message: string): UsageError {
  return Object.assign(new UsageError(message), { usage: controlUsage(PROGRAM) });
}
