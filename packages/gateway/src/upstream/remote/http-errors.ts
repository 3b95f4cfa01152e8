import { STATUS_CODES } from 'node:http';
import { shownAddress } from '../../config/redact.ts';
import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import { errorLine } from '../../wire/answer.ts';
import { InvalidHttp } from '../../wire/http/invalid-http.ts';
import { readMembers, valueText } from '../../wire/json/members.ts';
import { skipSpace } from '../../wire/json/scan.ts';
import { lineBytes } from '../../wire/json/splice.ts';
import { readMessage, type Message, type InvalidInput } from '../../wire/message.ts';

// Failures of the way to a server at an address, each as the end of a sentence that begins with the server's name.

/** Milliseconds that a server may take to accept a connection. */
export const CONNECT_MS = 10_000;

/** A connection that could not be made or used, by a code as the system has them. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** A request that cannot be sent. */
export class InvalidHeader extends Error {
  override readonly name = 'InvalidHeader';
}

/** Why no answer came at all. */
export function describeFailure(error: Error, origin: string): string {
  const code = 'code' in error ? String(error.code) : '';
  const known = FAILURES[code];
  if (known !== undefined) return `${known(origin)} (${code})`;
  if (error instanceof InvalidHttp)
    return `answered at ${origin} with something that is not HTTP: ${error.message}`;
  if (error instanceof InvalidHeader)
    return `cannot be called: ${error.message}; check "headers" in its entry`;
  if (CERTIFICATE.test(code)) return `${badCertificate(origin)} (${code})`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return `${noTls(origin)} (${code})`;
  return `cannot be reached at ${origin} (${code || error.name})`;
}

const CERTIFICATE = /CERT|ISSUER|SELF_SIGNED|UNABLE_TO_VERIFY/;

const FAILURES: Readonly<Record<string, (origin: string) => string>> = {
  ECONNREFUSED: (origin) =>
    `accepts no connections at ${origin}; check that it runs there and that "url" in its entry is right`,
  ENOTFOUND: (origin) => `cannot be found: ${origin} is not known to DNS; check "url" in its entry`,
  EAI_AGAIN: (origin) => `cannot be found: DNS did not answer for ${origin}; check the network`,
  ETIMEDOUT: (origin) =>
    `did not accept a connection at ${origin} in time; check the network and "url" in its entry`,
  CONNECT_TIMEOUT: (origin) =>
    `did not accept a connection at ${origin} within ${CONNECT_MS / 1000} s; check the network and "url" in its entry`,
  ENETUNREACH: (origin) => `cannot be reached at ${origin}; check the network`,
  EHOSTUNREACH: (origin) => `cannot be reached at ${origin}; check the network`,
  ECONNRESET: closedUnanswered,
  EPIPE: closedUnanswered,
};

function closedUnanswered(origin: string): string {
  return `closed the connection at ${origin} before it answered`;
}

function badCertificate(origin: string): string {
  return `has an untrusted certificate at ${origin}; if it is your own, set NODE_EXTRA_CA_CERTS to the file of its issuer`;
}

function noTls(origin: string): string {
  return `does not speak TLS at ${origin}; check whether "url" in its entry should begin with http://`;
}

/** An answer that says no, and does not say it in JSON-RPC. */
export function describeStatus(status: number, method: string, remedy?: string): string {
  const said = `answered ${quoted(method)} with HTTP ${status}${STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`}`;
  if (remedy !== undefined) return `${said}; ${remedy}`;
  if (status === 404 || status === 405 || status === 410) return `${said}; check "url" in its entry`;
  if (status === 429) return `${said}; it limits the rate of calls: try again later`;
  return status >= 500 ? `${said}; try again, or check the log of that server` : said;
}

/** A redirection that is not followed. */
export function describeRedirect(status: number, target: URL | undefined, origin: string): string {
  if (target === undefined) return `redirects without an address (HTTP ${status})`;
  // Only addresses of the web have an origin.
  const host = target.origin === 'null' ? `a ${target.protocol} address` : target.origin;
  const where = target.origin === origin ? shownAddress(target) : host;
  return `redirects to ${where} (HTTP ${status}), which Weir does not follow; write the right address as "url" in its entry`;
}

/** An answer of another kind than was asked for: most often a page for people. */
export function describeContentType(contentType: string, method: string): string {
  const kind = /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'no usable content type';
  return `answered ${quoted(method)} with ${kind} instead of JSON or an event stream; check "url" in its entry`;
}

/** A refusal is short. */
export const LONGEST_REFUSAL: number = 1024 * 1024;

/** Reads the message in a body; an error without an id of its own is taken for the answer to `id`. */
export function readAnswer(body: Buffer, id: number): Message | InvalidInput {
  return asAnswer(readMessage(body), id);
}

/** The same for a body that has been read. */
export function asAnswer(message: Message | InvalidInput, id: number): Message | InvalidInput {
  return message.kind === 'invalid' ? (namelessError(message, id) ?? message) : message;
}

/** Returns true where a body is not a JSON-RPC message, such as an error without an id. */
export function isNameless(body: Buffer): boolean {
  return readMessage(body).kind === 'invalid';
}

/** A server that cannot tell which request it refuses leaves the id out or writes null; here it is known. */
function namelessError({ reason, bytes }: InvalidInput, id: number): Message | undefined {
  const members = reason === 'not-a-message' ? readMembers(bytes, skipSpace(bytes, 0)) : undefined;
  const error = members && valueText(members, 'error');
  const nameless = members && [undefined, 'null'].includes(valueText(members, 'id'));
  if (error === undefined || !nameless) return undefined;
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}`, 'latin1'));
  return message.kind === 'invalid' ? undefined : message;
}

/** The answer of a server that does not know a method, where it said so in HTTP alone. */
export function unknownMethod(id: number, status: number): Message {
  const error = new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `HTTP ${status}`);
  return readMessage(lineBytes(errorLine(String(id), error))) as Message;
}
