import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import {
  envelopeMembers,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type Envelope,
  type Era,
} from '../../protocol/eras.ts';
import { Method } from '../../protocol/methods.ts';
import { inTime } from '../../time/timeouts.ts';
import { encode } from '../../wire/json/splice.ts';
import { isRecord, isShallow } from '../../wire/json/value-checks.ts';
import type { Message } from '../../wire/message.ts';
import type { Peer } from '../../wire/peer.ts';
import { reasonOf, Unavailable } from '../unavailable.ts';

/** Versions that a server may settle on in a handshake; the first of all came before those that are offered. */
const HANDSHAKE_VERSIONS: ReadonlySet<string> = new Set([...LEGACY_VERSIONS, '2024-10-07']);

/** Bytes of what a peer says of itself, which are parsed in one turn and kept. 1 MiB of instructions is more than any host reads. */
const LARGEST_PARSED = 1024 * 1024;

/** Answers of a server to the handshake: its era, version and description of itself. */
export interface HandshakeResult {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Usage notes for models, in the server's own words. */
  readonly instructions: string | undefined;
  /** False where the server did not answer the probe in time: another day it may. */
  readonly certain: boolean;
  /** True for a server that answered the modern probe; with `era: 'legacy'` it speaks both eras. */
  readonly isModern: boolean;
  /** True for a server that refused the legacy handshake. */
  readonly isModernOnly?: boolean;
}

export interface HandshakeOptions {
  readonly serverKey: string;
  readonly envelope: Envelope;
  /** Era that an earlier start found, or that is prescribed. */
  readonly knownEra: Era | undefined;
  /** Fails where the server does not speak the era that is known, instead of trying the other. */
  readonly isFixed: boolean;
  /** Milliseconds to wait for an answer to the probe. */
  readonly probeTimeoutMs: number;
  /** Uses the legacy era with a server that speaks both. */
  readonly prefersLegacy: boolean;
}

/** Finds out in place which era a server speaks. The probe goes first and alone: dual servers keep the era they see first. */
export async function shakeHands(peer: Peer, options: HandshakeOptions): Promise<HandshakeResult> {
  if (options.isFixed && options.knownEra !== undefined) return openInEra(peer, options.knownEra, options);
  if (options.knownEra === 'legacy') {
    const handshake = await initialize(peer, options);
    if (handshake instanceof RpcError === false) return handshake;
  }
  const probe = discover(peer, options);
  const answer = await inTime(options.probeTimeoutMs, probe);
  if (answer !== undefined && answer instanceof RpcError === false)
    return options.prefersLegacy ? useLegacyEra(peer, answer, options) : answer;
  const handshake = await initialize(peer, options);
  if (handshake instanceof RpcError === false) return { ...handshake, certain: answer !== undefined };
  // A modern server that was slow to boot refuses the handshake, but has the probe still to answer.
  const late = answer ?? (await inTime(options.probeTimeoutMs, probe));
  if (late === undefined || late instanceof RpcError) throw handshake;
  return late;
}

/** Opens the conversation in one era; throws where the server does not speak it. */
async function openInEra(peer: Peer, era: Era, options: HandshakeOptions): Promise<HandshakeResult> {
  const handshake = await (era === 'legacy' ? initialize(peer, options) : discover(peer, options));
  if (handshake instanceof RpcError === false) return { ...handshake, isModernOnly: era === 'modern' };
  const what = `does not speak the ${era} era: it ${reasonOf(handshake)}; remove "era" from its entry`;
  throw new Unavailable(options.serverKey, what);
}

/** Repeats the handshake in the legacy era: a probe does not decide the era of a server that speaks both. */
async function useLegacyEra(
  peer: Peer,
  modern: HandshakeResult,
  options: HandshakeOptions,
): Promise<HandshakeResult> {
  const handshake = await inTime(options.probeTimeoutMs, initialize(peer, options));
  if (handshake === undefined || handshake instanceof RpcError) return { ...modern, isModernOnly: true };
  return { ...handshake, isModern: true };
}

/** Sends the modern probe; returns an error where the server does not speak that era. */
async function discover(
  peer: Peer,
  { envelope, serverKey }: HandshakeOptions,
): Promise<HandshakeResult | RpcError> {
  const ask = (): Promise<Message> =>
    peer.request(Method.DISCOVER, `{"_meta":{${envelopeMembers(envelope)}}}`);
  const first = await ask();
  const isRefusal = first.isError && !isTooLarge(first);
  // A server that refuses a version, and names the same one as supported, is asked once more.
  const answer = isRefusal && offersModern(readError(first)) ? await ask() : first;
  if (isTooLarge(answer)) return tooLarge(serverKey, Method.DISCOVER, answer);
  if (answer.isError) return readError(answer);
  const { supportedVersions, ...result } = readResult(answer);
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) {
    return new RpcError(RpcErrorCode.UNSUPPORTED_VERSION, `its supportedVersions lack ${MODERN_VERSION}`);
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

/** Sends the legacy handshake; returns an error where the server refuses it. */
async function initialize(
  peer: Peer,
  { envelope, serverKey }: HandshakeOptions,
): Promise<HandshakeResult | RpcError> {
  const { clientInfo, capabilities } = envelope;
  const [offered] = LEGACY_VERSIONS;
  const params = `{"protocolVersion":"${offered}","capabilities":${capabilities},"clientInfo":${encode(clientInfo)}}`;
  const answer = await peer.request(Method.INITIALIZE, params);
  if (isTooLarge(answer)) return tooLarge(serverKey, Method.INITIALIZE, answer);
  if (answer.isError) return readError(answer);
  const result = readResult(answer);
  const version = typeof result['protocolVersion'] === 'string' ? result['protocolVersion'] : offered;
  if (!HANDSHAKE_VERSIONS.has(version)) return unknownVersion(serverKey, version);
  peer.notify(Method.INITIALIZED);
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
  const what = `answered initialize with protocol version '${quoted(version)}', which Weir does not know; update the server or Weir`;
  return new Unavailable(serverKey, what);
}

function selfDescription(
  result: Record<string, unknown>,
): Pick<HandshakeResult, 'capabilities' | 'instructions'> {
  const { capabilities, instructions } = result;
  return {
    capabilities: writable(asRecord(capabilities)),
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

/** Drops capabilities that are nested too deep to serialise again for clients. */
function writable(capabilities: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(capabilities).filter(([, value]) => isShallow(value)));
}

/** Throws where a string in the result is not valid JSON. */
export function readResult(answer: Message): Record<string, unknown> {
  return asRecord(JSON.parse(answer.bytes.toString('utf8', answer.bodyAt, answer.bodyEnd)));
}

export function readError(answer: Message): RpcError {
  try {
    const { code, message, data } = readResult(answer);
    return new RpcError(typeof code === 'number' ? code : RpcErrorCode.INTERNAL, String(message), data);
  } catch {
    return new RpcError(RpcErrorCode.INTERNAL, 'answered with an error that is not JSON');
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
