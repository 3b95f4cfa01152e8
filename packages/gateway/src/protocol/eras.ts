import { encode } from '../wire/json/splice.ts';

/** The two eras of the protocol: a handshake and a session, or an envelope with every request. */
export type Era = 'legacy' | 'modern';

export const MODERN_VERSION = '2026-07-28';

/** Newest first; the first is offered to children and to clients that ask for something unknown. */
export const LEGACY_VERSIONS: readonly [string, ...string[]] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];

/** The reserved keys of `_meta`. */
export const Meta = {
  PROTOCOL_VERSION: 'io.modelcontextprotocol/protocolVersion',
  CLIENT_INFO: 'io.modelcontextprotocol/clientInfo',
  CLIENT_CAPABILITIES: 'io.modelcontextprotocol/clientCapabilities',
  LOG_LEVEL: 'io.modelcontextprotocol/logLevel',
  SERVER_INFO: 'io.modelcontextprotocol/serverInfo',
  SUBSCRIPTION_ID: 'io.modelcontextprotocol/subscriptionId',
} as const;

/** Name and version of a client or the gateway. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
}

/** Description of the sender in every modern request; `capabilities` and `logLevel` are JSON texts. */
export interface Envelope {
  readonly clientInfo: Implementation;
  readonly capabilities: string;
  readonly logLevel?: string | undefined;
}

/** The members that make an envelope, to stand in a `_meta` object. */
export function envelopeMembers({ clientInfo, capabilities, logLevel }: Envelope): string {
  const level = logLevel === undefined ? '' : `,"${Meta.LOG_LEVEL}":${logLevel}`;
  return `"${Meta.PROTOCOL_VERSION}":"${MODERN_VERSION}","${Meta.CLIENT_INFO}":${encode(clientInfo)},"${Meta.CLIENT_CAPABILITIES}":${capabilities}${level}`;
}
