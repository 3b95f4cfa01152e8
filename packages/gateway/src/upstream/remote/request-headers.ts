import { urlToHttpOptions } from 'node:url';
import { quoted } from '../../errors.ts';
import { Meta, MODERN_VERSION } from '../../protocol/eras.ts';
import { Method, isTaskRequest, namedInHeader } from '../../protocol/methods.ts';
import { encodeHeaderValue, parameterHeaders, type ParameterHeader } from '../../protocol/param-headers.ts';
import { findMember, stringValue, type Members } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import type { HttpResponse } from './http-connection.ts';
import { InvalidHeader } from './http-errors.ts';

export const ACCEPT_EVENTS = 'accept: text/event-stream\r\n';
export const ACCEPT_ANY = 'accept: application/json, text/event-stream\r\n';

/** Credentials of a server: the headers that every request to it carries. */
export interface HttpAuth {
  /** Returns the headers by names in lower case; the same object until they change, so that lines made of them can be kept. */
  headers(): Headers;
  /** Returns what to do about a response that refuses them (HTTP 401 or 403), as the end of a sentence. */
  rejected(response: HttpResponse): string;
}

type Headers = Readonly<Record<string, string>>;

/** Uses the headers of the config and, where none of them is `Authorization`, the user and password of the address. */
export function configuredAuth(url: URL, configured: Headers): HttpAuth {
  const { auth } = urlToHttpOptions(url);
  const headers = {
    ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
    ...Object.fromEntries(Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value])),
  };
  return { headers: () => headers, rejected: () => 'check "headers" in its entry' };
}

/** Returns the lines that every request to a server has; an entry cannot set headers that the protocol defines. */
export function commonLines(headers: Headers): string {
  const own = Object.entries(headers).filter(([name]) => !PROTOCOL_HEADERS.test(name));
  const wrong = own.find(([name]) => !TOKEN.test(name));
  if (wrong !== undefined)
    throw new InvalidHeader(`${JSON.stringify(quoted(wrong[0]))} is not a valid header name`);
  return own.map(([name, value]) => headerLine(name, value)).join('');
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u;
const PROTOCOL_HEADERS =
  /^(?:host|connection|transfer-encoding|accept|content-type|content-length|last-event-id|mcp-.*)$/iu;

/** Returns the lines in which a request of the modern era repeats parts of its body. */
export function modernLines(
  { method, params, meta }: Message,
  markedIn: (tool: string) => readonly ParameterHeader[] | undefined,
): string {
  const name = params && nameOf(method, params);
  const marked = method === Method.CALL_TOOL && name !== undefined ? markedIn(name) : undefined;
  const version = (meta && stringValue(meta, Meta.PROTOCOL_VERSION)) ?? MODERN_VERSION;
  let lines =
    headerLine('mcp-protocol-version', version) + headerLine('mcp-method', encodeHeaderValue(method));
  if (name !== undefined) lines += headerLine('mcp-name', encodeHeaderValue(name));
  if (marked === undefined) return lines;
  for (const [key, value] of Object.entries(parameterHeaders(marked, argumentsOf(params))))
    lines += headerLine(key, value);
  return lines;
}

/** Returns the name, URI or task that the headers of a request repeat. */
function nameOf(method: string, params: Members): string | undefined {
  const key = namedInHeader(method) ?? (isTaskRequest(method) ? 'taskId' : undefined);
  return key === undefined ? undefined : stringValue(params, key);
}

function argumentsOf(params: Members | undefined): unknown {
  const m = params === undefined ? -1 : findMember(params, 'arguments');
  if (params === undefined || m < 0) return undefined;
  return JSON.parse(params.bytes.toString('utf8', params.flat[m + 2], params.flat[m + 3]));
}

/** Writes a header as a line of a request. Throws an `InvalidHeader`, without the value, where it would break the line. */
export function headerLine(name: string, value: string): string {
  for (let at = 0; at < value.length; at++) {
    const character = value.charCodeAt(at);
    if (character > 0xff || character === 0x7f || (character < 0x20 && character !== 0x09))
      throw new InvalidHeader(`the header ${name} holds a character that cannot be sent`);
  }
  return `${name}: ${value}\r\n`;
}
