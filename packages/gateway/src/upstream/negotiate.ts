import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import {
  envelopeMembers,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type Envelope,
  type Era,
} from '../protocol/eras.ts';
import { inTime } from '../time/timeouts.ts';
import { isRecord } from '../wire/json/is-record.ts';
import { isShallow } from '../wire/json/shallow.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import { Unavailable } from './unavailable.ts';

/** Versions that a server may settle on in a handshake; the first of all came before those that are offered. */
const HANDSHAKE_VERSIONS: ReadonlySet<string> = new Set([...LEGACY_VERSIONS, '2024-10-07']);

/** Bytes of what a peer says of itself, which are parsed in one turn and kept. 1 MiB of instructions is more than any host reads. */
const LARGEST_PARSED = 1024 * 1024;

/** What a server said of itself when the link was opened. */
export interface Greeting {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** How it wants to be used, in its own words. */
  readonly instructions: string | undefined;
  /** False where silence decided: another day it may answer in time. */
  readonly certain: boolean;
  /** It knows the modern way; where it is greeted in the old one all the same, it knows both. */
  readonly isModern: boolean;
  /** It knows no other. */
  readonly isModernOnly?: boolean;
}

export interface HandshakeOptions {
  readonly serverKey: string;
  readonly envelope: Envelope;
  /** What an earlier start found out. */
  readonly verdict: Era | undefined;
  /** No other way than that is tried. */
  readonly isFixed: boolean;
  /** How long an unanswered probe is waited for. */
  readonly patience: number;
  /** Its one client is served better in the old way, where the server knows both. */
  readonly prefersLegacy: boolean;
}

/** Finds out in place which era a server speaks. A probe comes first and alone: dual servers take the era they see first. */
export async function shakeHands(peer: Peer, options: HandshakeOptions): Promise<Greeting> {
  if (options.verdict === 'legacy') {
    const greeting = await initialize(peer, options);
    if (greeting instanceof RpcError === false) return greeting;
    if (options.isFixed) throw greeting;
  }
  const probe = discover(peer, options);
  const answer = await inTime(options.patience, probe);
  if (answer !== undefined && answer instanceof RpcError === false)
    return options.prefersLegacy ? goBack(peer, answer, options) : answer;
  const greeting = await initialize(peer, options);
  if (greeting instanceof RpcError === false) return { ...greeting, certain: answer !== undefined };
  // A modern server that was slow to boot refuses the handshake, but has the probe still to answer.
  const late = answer ?? (await inTime(options.patience, probe));
  if (late === undefined || late instanceof RpcError) throw greeting;
  return late;
}

/** A probe pins nothing: a server of both ways may still be greeted in the old one. What it offers does not tell. */
async function goBack(peer: Peer, modern: Greeting, options: HandshakeOptions): Promise<Greeting> {
  const greeting = await inTime(options.patience, initialize(peer, options));
  if (greeting === undefined || greeting instanceof RpcError) return { ...modern, isModernOnly: true };
  return { ...greeting, isModern: true };
}

/** The modern greeting; an error where the server does not know it. */
async function discover(peer: Peer, { envelope, serverKey }: HandshakeOptions): Promise<Greeting | RpcError> {
  const ask = (): Promise<Message> =>
    peer.request('server/discover', `{"_meta":{${envelopeMembers(envelope)}}}`);
  const first = await ask();
  const isRefusal = first.isError && !isTooLarge(first);
  // A server that refuses a version, and names the same one as supported, is asked once more.
  const answer = isRefusal && offersModern(readError(first)) ? await ask() : first;
  if (isTooLarge(answer)) return tooLarge(serverKey, 'server/discover', answer);
  if (answer.isError) return readError(answer);
  const { supportedVersions, ...result } = readResult(answer);
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) {
    return new RpcError(
      RpcErrorCode.UNSUPPORTED_VERSION,
      `no ${MODERN_VERSION} among the versions it offers`,
    );
  }
  return {
    era: 'modern',
    version: MODERN_VERSION,
    certain: true,
    isModern: true,
    ...selfDescription(result),
  };
}

function offersModern({ code, data }: RpcError): boolean {
  const { supported } = asRecord(data);
  return (
    code === RpcErrorCode.UNSUPPORTED_VERSION &&
    Array.isArray(supported) &&
    supported.includes(MODERN_VERSION)
  );
}

/** The handshake of the earlier revisions. */
async function initialize(
  peer: Peer,
  { envelope, serverKey }: HandshakeOptions,
): Promise<Greeting | RpcError> {
  const { clientInfo, capabilities } = envelope;
  const [offered] = LEGACY_VERSIONS;
  const params = `{"protocolVersion":"${offered}","capabilities":${capabilities},"clientInfo":${encode(clientInfo)}}`;
  const answer = await peer.request('initialize', params);
  if (isTooLarge(answer)) return tooLarge(serverKey, 'initialize', answer);
  if (answer.isError) return readError(answer);
  const result = readResult(answer);
  const version = typeof result['protocolVersion'] === 'string' ? result['protocolVersion'] : offered;
  if (!HANDSHAKE_VERSIONS.has(version)) return unknownVersion(serverKey, version);
  peer.notify('notifications/initialized');
  return { era: 'legacy', version, certain: true, isModern: false, ...selfDescription(result) };
}

/** Returns true for a result or an error that is not parsed whole, because that would take too long. */
export function isTooLarge({ bodyAt, bodyEnd }: Message): boolean {
  return bodyEnd - bodyAt > LARGEST_PARSED;
}

function tooLarge(serverKey: string, method: string, { bodyAt, bodyEnd }: Message): RpcError {
  const what = `answered ${method} with ${bodyEnd - bodyAt} bytes, over the limit of ${LARGEST_PARSED}; shorten its instructions`;
  return new Unavailable(serverKey, what);
}

/** A client disconnects from a server whose version it does not know: neither could tell what the other means. */
function unknownVersion(serverKey: string, version: string): RpcError {
  const what = `answered initialize with protocol version '${quoted(version)}', which is not known here; update the server or the gateway`;
  return new Unavailable(serverKey, what);
}

function selfDescription(result: Record<string, unknown>): Pick<Greeting, 'capabilities' | 'instructions'> {
  const { capabilities, instructions } = result;
  return {
    capabilities: writable(asRecord(capabilities)),
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

/** What clients are to be told has to be written again. */
function writable(capabilities: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(capabilities).filter(([, value]) => isShallow(value)));
}

/** Throws where the inside of a string is no JSON. */
export function readResult(answer: Message): Record<string, unknown> {
  return asRecord(JSON.parse(answer.bytes.toString('utf8', answer.bodyAt, answer.bodyEnd)));
}

export function readError(answer: Message): RpcError {
  try {
    const { code, message, data } = readResult(answer);
    return new RpcError(typeof code === 'number' ? code : RpcErrorCode.INTERNAL, String(message), data);
  } catch {
    return new RpcError(RpcErrorCode.INTERNAL, 'answered with an error that is no JSON');
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
