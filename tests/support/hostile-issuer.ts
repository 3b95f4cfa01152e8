import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Issuer that answers as a test tells it. Unless told otherwise, it signs in without asking and issues good tokens. */
export interface HostileIssuer {
  readonly issuer: string;
  /** Members replace those of good metadata; undefined removes one. */
  metadata: Record<string, unknown>;
  /** Parameters replace those of a good callback; undefined removes one. */
  callback: Record<string, string | undefined>;
  /** Answers a request to one of the endpoints that take a POST: `token`, `device`, `revoke`. */
  answer: (endpoint: string, form: URLSearchParams) => IssuerAnswer | Promise<IssuerAnswer>;
  /** Endpoints and forms of the requests, in order. */
  readonly requests: { readonly endpoint: string; readonly form: URLSearchParams }[];
  /** Queries of the authorization requests. */
  readonly authorizations: URLSearchParams[];
  close(): Promise<void>;
}

export interface IssuerAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
}

export const GOOD_TOKENS = {
  access_token: 'access-1',
  refresh_token: 'refresh-1',
  token_type: 'Bearer',
  expires_in: 3600,
} as const;

export async function startHostileIssuer(): Promise<HostileIssuer> {
  const server = createServer((request, response) => void respond(self, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const self: HostileIssuer = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    metadata: {},
    callback: {},
    answer: () => ({ body: GOOD_TOKENS }),
    requests: [],
    authorizations: [],
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return self;
}

async function respond(
  self: HostileIssuer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', self.issuer);
  if (pathname === '/.well-known/openid-configuration') return send(response, { body: metadataOf(self) });
  if (pathname === '/authorize') {
    self.authorizations.push(searchParams);
    return send(response, { status: 302, headers: { location: callbackOf(self, searchParams) } });
  }
  const form = new URLSearchParams(await textOf(request));
  const endpoint = pathname.slice(1);
  self.requests.push({ endpoint, form });
  return send(response, await self.answer(endpoint, form));
}

function metadataOf({ issuer, metadata }: HostileIssuer): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    code_challenge_methods_supported: ['S256'],
    ...metadata,
  };
}

function callbackOf({ callback }: HostileIssuer, query: URLSearchParams): string {
  const url = new URL(query.get('redirect_uri') ?? '');
  const parameters = { code: 'code-1', state: query.get('state') ?? '', ...callback };
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '' }: IssuerAnswer): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
