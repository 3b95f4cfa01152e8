// A client at its place: the SDK's, in either era, on stdio or HTTP, with everything that it hears and is asked.
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type ClientOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Command, Era, Json, Received } from '../support/harness.ts';
import { modernMeta } from '../support/harness.ts';
import { LineTransport } from './line-transport.ts';

/** The address of a server. */
export type Address =
  | { readonly command: Omit<Command, 'cwd'> }
  | { readonly url: string; readonly token?: string; readonly isSse?: boolean };

/** The client's answers to questions. */
export const ANSWERS = {
  form: { action: 'accept', content: { name: 'Ann', age: 41 } },
  url: { action: 'accept' },
  model: {
    role: 'assistant',
    content: { type: 'text', text: 'Paris' },
    model: 'a-model',
    stopReason: 'endTurn',
  },
  roots: { roots: [{ uri: 'file:///home/ann', name: 'home' }] },
} as const;

export interface Seat extends AsyncDisposable {
  readonly era: Era;
  readonly client: Client;
  /** Every message that came, in order, as it was on the wire. */
  readonly heard: Received[];
  /** Called when the client is asked to fill in a form; aborted when the question is withdrawn. */
  onForm: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Sends a request with these params as they are; resolves with the line that answers it. */
  raw(method: string, params: string): Promise<string>;
}

/** Nothing here takes a second; on a busy machine it may. */
const PATIENCE_MS = 10_000;

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

export async function takeSeat(address: Address, era: Era): Promise<Seat> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const options: ClientOptions = { capabilities: CAPABILITIES, versionNegotiation: { mode } };
  const client = new Client({ name: 'matrix-client', version: '1.2.3' }, options);
  const transport = transportTo(address);
  const heard = listenIn(transport);
  const seat: Seat = {
    era,
    client,
    heard,
    onForm: undefined,
    raw: (method, params) => raw(transport, { address, era, method, params }),
    [Symbol.asyncDispose]: () => client.close(),
  };
  answerQuestions(seat);
  await client.connect(transport, { timeout: PATIENCE_MS });
  return seat;
}

function transportTo(address: Address): Transport {
  if ('command' in address) return new LineTransport(address.command);
  const { url, token, isSse } = address;
  if (isSse === true) return new SSEClientTransport(new URL(url));
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

/** Notes all messages before the SDK sees them: it parses, strips, and swallows the last update on progress. */
function listenIn(transport: Transport): Received[] {
  const heard: Received[] = [];
  let handle: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () =>
      handle &&
      ((message: object, extra: undefined) => {
        heard.push(message);
        handle?.(message as never, extra);
      }),
    set(value: Transport['onmessage']) {
      handle = value;
    },
  });
  return heard;
}

function answerQuestions(seat: Seat): void {
  const { client } = seat;
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
    if (params.mode === 'url') return { ...ANSWERS.url };
    await seat.onForm?.(signal);
    return { ...ANSWERS.form };
  });
  client.setRequestHandler('sampling/createMessage', () => ({ ...ANSWERS.model }));
  client.setRequestHandler('roots/list', () => ({ roots: [...ANSWERS.roots.roots] }));
}

interface RawRequest {
  readonly address: Address;
  readonly era: Era;
  readonly method: string;
  readonly params: string;
}

let rawRequests = 0;

async function raw(transport: Transport, { address, era, method, params }: RawRequest): Promise<string> {
  const id = `raw-${++rawRequests}`;
  const meta = era === 'modern' ? `${JSON.stringify(modernMeta(CAPABILITIES)).slice(1, -1)},` : '';
  const line = `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${meta}${params.slice(1)}}`;
  if (transport instanceof LineTransport) return transport.raw(id, line);
  if (!('url' in address) || address.isSse === true) throw new Error('Nothing raw over HTTP+SSE');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': era === 'modern' ? '2026-07-28' : '2025-11-25',
    ...(era === 'modern' && {
      'mcp-method': method,
      'mcp-name': (JSON.parse(params) as { name: string }).name,
    }),
    ...(transport.sessionId !== undefined && { 'mcp-session-id': transport.sessionId }),
    ...(address.token !== undefined && { authorization: `Bearer ${address.token}` }),
  };
  const response = await fetch(address.url, { method: 'POST', headers, body: line });
  return answerIn(await response.text(), id);
}

function answerIn(body: string, id: string): string {
  if (body.startsWith('{')) return body;
  const lines = body.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  const answer = lines.map((line) => line.slice(5).trimStart()).findLast((data) => data.includes(`"${id}"`));
  if (answer === undefined) throw new Error(`No answer to ${id} in ${body.slice(0, 500)}`);
  return answer;
}

/** A request past the SDK's schemas: nothing of the result is dropped. */
export async function request(
  { client }: Seat,
  method: string,
  params: Json = {},
  options: { signal?: AbortSignal; onprogress?: () => void } = {},
): Promise<Json> {
  const anything = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => ({ value: value as Json }),
    },
  };
  return await client.request({ method, params } as never, anything as never, {
    timeout: PATIENCE_MS,
    ...options,
  });
}

export function call(seat: Seat, name: string, args: Json = {}, meta?: Json): Promise<Json> {
  return request(seat, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
}
