import { withoutUnsafe } from '../../log.ts';
import { Meta } from '../../protocol/eras.ts';
import { startOf } from '../../shorten.ts';
import { valueText } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import type { Caller } from '../client-request.ts';
import type { InvokingClient } from './invocation.ts';

/** Of a `clientInfo`, as JSON; one that is longer is not read. */
const LONGEST_INFO = 4096;
const LONGEST_NAME = 64;
const LONGEST_VERSION = 32;
/** Clients whose names are remembered; each is parsed once. */
const MOST_CLIENTS = 100;

/** Returns the `clientInfo` of a request as JSON: modern clients send it each time, the others once. */
export function clientInfoText({ era, client }: Caller, { meta }: Message): string | undefined {
  return era === 'legacy' ? client.infoText : bounded(meta && valueText(meta, Meta.CLIENT_INFO));
}

/** Returns the `clientInfo` of a handshake as JSON. */
export function legacyInfoText({ params }: Message): string | undefined {
  return bounded(params && valueText(params, 'clientInfo'));
}

function bounded(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= LONGEST_INFO ? text : undefined;
}

interface Known {
  readonly client: InvokingClient | undefined;
  /** As a member of a line of the history. */
  readonly json: string;
}

/** Names of clients by what they say of themselves, safe to print. */
export class ClientNames {
  readonly #known = new Map<string, Known>();

  of(text: string | undefined): InvokingClient | undefined {
    return text === undefined ? undefined : this.#read(text).client;
  }

  jsonOf(text: string | undefined): string {
    return text === undefined ? '' : this.#read(text).json;
  }

  #read(text: string): Known {
    const last = this.#known.get(text);
    if (last !== undefined) return last;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_CLIENTS && oldest !== undefined) this.#known.delete(oldest);
    const client = readClient(text);
    const known = { client, json: client === undefined ? '' : `,"client":${JSON.stringify(client)}` };
    this.#known.set(text, known);
    return known;
  }
}

function readClient(text: string): InvokingClient | undefined {
  const { name, version } = parsed(text);
  if (typeof name !== 'string' || name === '') return undefined;
  return {
    name: startOf(withoutUnsafe(name), LONGEST_NAME),
    version: typeof version === 'string' ? startOf(withoutUnsafe(version), LONGEST_VERSION) : '',
  };
}

function parsed(text: string): { name?: unknown; version?: unknown } {
  try {
    return (JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) ?? {}) as object;
  } catch {
    return {};
  }
}
