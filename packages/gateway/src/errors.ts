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

/** The sentences for users and clients that more than one place says; the others stand beside their use. */
export const Texts = {
  missingCommand: (others: readonly string[]): string =>
    `Missing or invalid command: write "command": "npx" for a program, or ${others.map((key) => `"${key}"`).join(' or ')} in its place`,
  noServers: (): string =>
    'No servers to start: "mcpServers" is empty, or all its entries are disabled or skipped',
  notRunning: (serverKey: string, retryHint?: string): string =>
    `Server '${serverKey}' is not running${retryHint === undefined ? '' : `; ${retryHint}`}`,
  isDisabled: (serverKey: string, isByRule: boolean, commandName: string): string =>
    `Server '${serverKey}' is disabled. ${isByRule ? enableRemedy(serverKey, commandName) : `Enable it with "${commandName} enable ${serverKey}".`}`,
  autoDisabled: (serverKey: string, attempts: number, commandName: string): string =>
    `Server '${serverKey}' is disabled: ${attempts} attempts in a row to restart it failed. ${enableRemedy(serverKey, commandName)}`,
  unreachable: (
    serverKey: string,
    { attempts, every, commandName }: { attempts: number; every: string; commandName: string },
  ): string =>
    `Server '${serverKey}' is unreachable and disabled: ${attempts} attempts in a row failed. Weir tries again every ${every}; "${commandName} enable ${serverKey}" tries at once.`,
  skippedLoop: (serverKey: string, isThis: boolean): string =>
    `Server '${serverKey}' is skipped: its entry leads back to ${isThis ? 'this gateway' : 'a gateway in front of this one'}, which would start itself endlessly. Remove the entry from the config, or let it name another config.`,
  shuttingDown: (): string => 'The gateway is shutting down',

  clientDisconnected: (reason: string): string => `Disconnected a client: it ${reason}`,
  clientLacks: (method: string, capability: string): string =>
    `${quoted(method)} cannot be forwarded: the client does not support "${capability}"`,
  invalidInputRequest: (): string =>
    'The server sent an invalid request for input: it has neither questions nor a state, or asks something other than elicitation/create, sampling/createMessage and roots/list',
  batchRefused: (): string => 'Send one message at a time: only protocol version 2025-03-26 has batches',
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
