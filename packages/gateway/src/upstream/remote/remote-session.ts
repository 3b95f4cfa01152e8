import { stringValue } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import type { HttpResponse } from './http-response.ts';

/** What a handshake over HTTP has settled. In the modern era there is none. */
export class RemoteSession {
  #id: string | undefined;
  #version: string | undefined;
  #count = 0;

  /** Whether there was a handshake at all. */
  get isOpen(): boolean {
    return this.#version !== undefined;
  }

  /** Counts the sessions: a server may give the same name twice. Undefined where the server keeps none. */
  get number(): number | undefined {
    return this.#id === undefined ? undefined : this.#count;
  }

  /** Takes over what the server has answered to a handshake. */
  adopt({ body: result }: Message, { headers }: HttpResponse): void {
    const id = headers.get('mcp-session-id');
    this.#version = (result && stringValue(result, 'protocolVersion')) ?? '';
    this.#id = id;
    this.#count += 1;
  }

  /** What every request of the session says of it. */
  headers(): Record<string, string> {
    return {
      ...(this.#id !== undefined && { 'mcp-session-id': this.#id }),
      ...(this.#version && { 'mcp-protocol-version': this.#version }),
    };
  }
}
