import { shortened } from './shorten.ts';

/** Why a config file was refused. */
export const ConfigErrorCode = {
  FILE_NOT_FOUND: 'file_not_found',
  INVALID_JSON: 'invalid_json',
  INVALID_SCHEMA: 'invalid_schema',
  MISSING_ENV_VAR: 'missing_env_var',
} as const;
export type ConfigErrorCode = (typeof ConfigErrorCode)[keyof typeof ConfigErrorCode];

/** The config cannot be used; its message is complete and holds no value of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code: ConfigErrorCode;
  readonly details?: unknown;

  constructor(message: string, code: ConfigErrorCode, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Phase in which a child server failed. */
export const ErrorPhase = {
  STARTUP: 'startup',
  INITIALIZATION: 'initialization',
  RUNTIME: 'runtime',
} as const;
export type ErrorPhase = (typeof ErrorPhase)[keyof typeof ErrorPhase];

/** A child server failed; says which one and in which phase. */
export class ChildServerError extends Error {
  override readonly name = 'ChildServerError';
  readonly serverKey: string;
  readonly phase: ErrorPhase;
  declare readonly cause?: Error;

  constructor(message: string, serverKey: string, phase: ErrorPhase, cause?: Error) {
    super(message, cause && { cause });
    this.serverKey = serverKey;
    this.phase = phase;
  }
}

/** Returns the message of a failure for clients, without the stderr tail of a server: only the operator sees that. */
export function forClients(error: Error): string {
  const { message } = error;
  return error instanceof ChildServerError ? withoutTail(message) : message;
}

/** The message of a failed server without its stderr tail, which may hold secrets. */
export function withoutTail(message: string): string {
  return message.replace(/\n.*$/su, '');
}

/** The JSON-RPC codes that cross the wire. */
export const RpcErrorCode = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  UNAVAILABLE: -32000,
  HEADER_MISMATCH: -32020,
  MISSING_CAPABILITY: -32021,
  UNSUPPORTED_VERSION: -32022,
} as const;
export type RpcErrorCode = (typeof RpcErrorCode)[keyof typeof RpcErrorCode];

/** An answer to a request that a client sees as a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data?: unknown;

  constructor(code: number, message: string, data?: unknown) {
    // An answer needs no stack: that would be most of its cost, and peers can provoke thousands.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.data = data;
  }
}

/** The answer to a request that has failed through a mistake of the gateway. */
export function internalError(): RpcError {
  return new RpcError(RpcErrorCode.INTERNAL, "Internal error. The gateway's log has the details.");
}

/** Things that a client requests by name. */
type Thing = 'Tool' | 'Prompt' | 'Resource' | 'Task';

/** Characters of a peer's text that are repeated: peers choose names of any length. */
const LONGEST_QUOTE = 200;
/** Characters in the `data` of an error: more than an honest URI has. */
export const LONGEST_DATA = 2048;

/** Returns a text of a peer as an error or a line of the log repeats it. */
export function quoted(text: string): string {
  return shortened(text, LONGEST_QUOTE);
}

/** Returns a text of a peer as the `data` of an error repeats it: clients compare it with what they have sent. */
export function quotedData(text: string): string {
  return shortened(text, LONGEST_DATA);
}

/** Every sentence that a user or a client may read and that more than one place says. */
export const Texts = {
  toolNotFound: (name: string): string => `Tool not found: ${quoted(name)}`,
  invalidToolName: (separator: string, name: string): string =>
    `Invalid tool name format. Expected 'serverKey${separator}toolName', got '${quoted(name)}'`,

  separatorEmpty: (defaultSeparator: string): string =>
    `Separator cannot be empty. Use --separator <chars> to specify a separator (default: "${defaultSeparator}")`,
  separatorWhitespace: (): string =>
    'Separator cannot contain whitespace. Use non-whitespace characters like "__" or "-"',

  spawnFailed: (serverKey: string, reason: string): string =>
    `Failed to spawn server '${serverKey}': ${reason}`,
  clientEnded: (reason: string): string => `A client was disconnected: it ${reason}`,
  serverCrashed: (serverKey: string): string => `Server '${serverKey}' crashed during operation`,

  serverLost: (serverKey: string): string => `Server '${serverKey}' is lost`,

  startFailed: (serverKey: string, reason: string): string =>
    `Server '${serverKey}' failed during initialization: it ${reason}`,

  missingCommand: (): string =>
    'Missing or invalid command: write "command": "npx" for a program, or "url" or "image" in its place',
  notStarted: (serverKey: string): string => `Server '${serverKey}' has not been started yet`,

  runsAgain: (serverKey: string): string => `Server '${serverKey}' runs again`,
  autoDisabled: (serverKey: string, attempts: number, commandName: string): string =>
    `Server '${serverKey}' is disabled: ${attempts} attempts in a row to get it back have failed. ${enableRemedy(serverKey, commandName)}`,
  unreachable: (
    serverKey: string,
    { attempts, every, commandName }: { attempts: number; every: string; commandName: string },
  ): string =>
    `Server '${serverKey}' cannot be reached and is disabled: ${attempts} attempts in a row have failed. It is tried again every ${every}; "${commandName} enable ${serverKey}" tries at once.`,
  reachedAgain: (serverKey: string): string => `Server '${serverKey}' can be reached again and is enabled`,
  awaited: (serverKey: string, wait: string | undefined, commandName: string): string =>
    `it could not be reached and is ${wait === undefined ? 'being tried again' : `tried again in ${wait}`}; "${commandName} enable ${serverKey}" tries at once`,
  isDisabled: (serverKey: string, isByRule: boolean, commandName: string): string =>
    `Server '${serverKey}' is disabled. ${isByRule ? enableRemedy(serverKey, commandName) : `Enable it with "${commandName} enable ${serverKey}".`}`,
  mayBeEnabled: (serverKey: string, commandName: string): string =>
    `it is disabled, and "${commandName} enable ${serverKey}" enables it`,
  notKept: (serverKey: string, reason: string): string =>
    `What was changed about server '${serverKey}' holds only until the gateway ends: ${reason}`,
  historyNotKept: (reason: string): string =>
    `The history of calls is kept in memory only: ${reason}. Calls are not affected.`,
  notSupervised: (serverKey: string): string =>
    `There is no server '${serverKey}' to be enabled, disabled or restarted: the config has none, or leaves it out`,
  outsideGroup: (serverKey: string, group = ''): string =>
    `Server '${serverKey}' does not run here: this gateway serves group '${group}', which has nothing of it`,
  offInFile: (serverKey: string): string =>
    `Server '${serverKey}' is switched off in the config file, which counts for more: change its "enabled" or "disabled" there`,

  leadsBack: (): string =>
    'This gateway is already part of the chain of gateways that leads here: it would start itself without end. Take the entry that leads here out of the config.',
  tooDeep: (most: number): string =>
    `${most} gateways stand behind one another already, and that is the limit. Take the entry that leads here out of the config.`,
  skippedLoop: (serverKey: string, isThis: boolean): string =>
    `Server '${serverKey}' is skipped: its entry leads back to ${isThis ? 'this gateway' : 'a gateway that this one stands behind'}, which would start itself without end. Take the entry out of the config, or let it name another config.`,
  skippedDepth: (serverKey: string): string =>
    `Server '${serverKey}' is skipped: it is a gateway, and too many gateways stand behind one another already. Take the entry out of the config.`,
  gatewayEnds: (): string => 'The gateway has ended or is about to',

  notFound: (what: Thing, name: string): string => `${what} not found: ${quoted(name)}`,
  ownerNotRunning: (what: Thing, name: string, serverKey: string, retryHint?: string): string =>
    `${what} not found: ${quoted(name)} (its server '${serverKey}' is not running${retryHint === undefined ? '' : `; ${retryHint}`})`,
  ownerStarting: (what: Thing, name: string, serverKey: string): string =>
    `${what} not found yet: ${quoted(name)} (its server '${serverKey}' is still starting; call again in a moment)`,
  othersStarting: (what: Thing, name: string, serverKeys: readonly string[]): string => {
    const who = `${serverKeys.map((key) => `'${key}'`).join(', ')} ${serverKeys.length === 1 ? 'is' : 'are'}`;
    return `${what} not found yet: ${quoted(name)} (${who} still starting and may have it; call again in a moment)`;
  },
  toolHeldBack: (name: string, serverKey: string, key: string): string =>
    `Tool not found: ${quoted(name)} (held back by a filter in the config: "${key}" of server '${serverKey}')`,
  ambiguousName: (what: Thing, name: string, publicNames: readonly string[]): string =>
    `${what} not found: ${quoted(name)} may mean ${publicNames.map(quoted).join(' or ')}; use the full name`,

  taskNotFound: (id: string): string =>
    `Task not found: ${quoted(id)}. The ids of tasks are 'serverKey~id', as the gateway has given them out.`,

  noServers: (): string =>
    'There is no server to start: "mcpServers" is empty, or all its entries are switched off or left out',
  nobodyToAsk: (method: string): string =>
    `${quoted(method)} cannot be passed on: no client has a call under way here that it could belong to`,
  whomToAsk: (serverKey: string, sharing: 'per-session' | 'per-call'): string =>
    `Several calls are under way on server '${serverKey}', perhaps of several clients, so it is not known whom to ask. Set "sharing": "${sharing}" in its entry to tell them apart.`,
  clientLacks: (method: string, capability: string): string =>
    `${quoted(method)} cannot be passed on: the client does not offer "${capability}"`,
  clientLeft: (): string => 'The client has closed the connection on which it could have been asked.',
  clientRefused: (method: string, reason: string): string =>
    `The client refused ${quoted(method)}: ${quoted(reason)}`,
  noRequests: (method: string): string =>
    `${quoted(method)} cannot be sent as a request in this revision of the protocol: answer the call with "input_required"`,
  notDuringCall: (method: string): string =>
    `${quoted(method)} cannot be passed on: the client can be asked only while a call of its own is under way`,
  unknownQuestion: (method: string): string =>
    `${quoted(method)} cannot be passed on: the client's revision of the protocol knows no such question`,
  tooManyRounds: (most: number): string =>
    `The server has asked back ${most} times without an answer; it is given up`,
  tooManyParked: (most: number): string =>
    `${most} calls already wait for answers of their clients, or their arguments take 64 MiB; try again later`,
  tooManyOpen: (most: number): string =>
    `The client has ${most} questions to answer already, the most at a time; ask again when it has answered some`,
  tooManyAsked: (most: number): string =>
    `The client was asked ${most} times in the course of this call, the most for one call`,
  tooManyUnasked: (most: number): string =>
    `The client was asked ${most} times within a minute without a call that it could belong to; ask again later, or during a call`,
  tooManyInRound: (most: number): string =>
    `The server asked back with more than ${most} questions at once, the most that a client is asked`,
  staleState: (): string =>
    'This requestState is not valid here: it has expired, was used before, belongs to another client or request, or was given out before a restart. Make the call again without it.',
  tooManyApart: (serverKey: string, most: number): string =>
    `${most} processes of server '${serverKey}' run already; try again when some of them have ended`,
  noInstance: (reason: string): string => `No server could be started for this call: ${reason}`,
  clientStaysAway: (): string => 'The client has not come back with an answer',
  callIsOver: (): string => 'The call that this was asked for is over',
  badRound: (): string =>
    'The server asked back in a way that the protocol does not know: neither questions nor a state, or questions other than elicitation/create, sampling/createMessage and roots/list',
  notVisited: (addresses: number): string =>
    `The server wants ${addresses === 1 ? 'an address' : `${addresses} addresses`} to be visited before it is called, and the client has not agreed to that. Make the call again to be asked once more.`,
  listsDiffer: (serverKey: string, kinds: readonly string[]): string =>
    `Server '${serverKey}' lists other ${kinds.join(' and ')} than were remembered of it; clients are told`,
  notRunning: (serverKey: string, retryHint?: string): string =>
    `Server '${serverKey}' is not running${retryHint === undefined ? '' : `; ${retryHint}`}`,
  unfinished: (count: number): string =>
    `The client has closed its end; ${count === 1 ? 'one request was' : `${count} requests were`} not finished`,
  clientUnreachable: (reason: string): string =>
    `The client can no longer be written to (${reason}); stopping`,
  batchRefused: (): string =>
    'Send one message at a time: batches belong to protocol version 2025-03-26 alone',

  configNotFound: (path: string): string => `Config file not found: ${path}`,
  missingVariables: (names: readonly string[]): string =>
    `Missing environment variable(s): ${names.join(', ')}`,
} as const;

/** Names in one sentence; more would hide its point. */
const MOST_NAMES = 5;

/** Names the first few, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return names.length === 0 ? 'none' : `${names.slice(0, MOST_NAMES).map(quoted).join(', ')}${more}`;
}

function enableRemedy(serverKey: string, commandName: string): string {
  return `Enable it with "${commandName} enable ${serverKey}", or change its entry in the config.`;
}
