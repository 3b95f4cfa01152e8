import { Meta, MODERN_VERSION } from '../../protocol/eras.ts';
import { encodeHeaderValue, parameterHeaders, type ParameterHeader } from '../../protocol/param-headers.ts';
import { findMember, stringValue, type Members } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import { InvalidHeader } from './http-errors.ts';

/** What every request of the modern era repeats of its body in headers. */
export function modernHeaders(
  { method, params, meta }: Message,
  markedIn: (tool: string) => readonly ParameterHeader[] | undefined,
): Record<string, string> {
  const name = params && nameOf(method, params);
  const marked = method === 'tools/call' && name !== undefined ? markedIn(name) : undefined;
  return {
    'mcp-protocol-version': (meta && stringValue(meta, Meta.PROTOCOL_VERSION)) ?? MODERN_VERSION,
    'mcp-method': encodeHeaderValue(method),
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...(marked && parameterHeaders(marked, argumentsOf(params))),
  };
}

/** What a request is about, where its headers say so. */
function nameOf(method: string, params: Members): string | undefined {
  if (method === 'tools/call' || method === 'prompts/get') return stringValue(params, 'name');
  if (method === 'resources/read') return stringValue(params, 'uri');
  return method.startsWith('tasks/') ? stringValue(params, 'taskId') : undefined;
}

function argumentsOf(params: Members | undefined): unknown {
  const m = params === undefined ? -1 : findMember(params, 'arguments');
  if (params === undefined || m < 0) return undefined;
  return JSON.parse(params.bytes.toString('utf8', params.flat[m + 2], params.flat[m + 3]));
}

/** A header as a line of a request. Throws an `InvalidHeader`, without the value, where it would break the line. */
export function headerLine(name: string, value: string): string {
  for (let at = 0; at < value.length; at++) {
    const character = value.charCodeAt(at);
    if (character > 0xff || character === 0x7f || (character < 0x20 && character !== 0x09))
      throw new InvalidHeader(`the header ${name} holds a character that cannot be sent`);
  }
  return `${name}: ${value}\r\n`;
}
