import { OAuthRequestError } from './oauth-errors.ts';
import { isLoopback } from './web-address.ts';

/** Milliseconds for a request to the issuer with its response: users and callers wait for it. */
const REQUEST_LASTS_MS = 10_000;

/** Bytes of a response. Metadata and key sets of large issuers have a tenth of this. */
const RESPONSE_BYTES = 1024 * 1024;

/** Sends one request. */
export type GuardedFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Limits requests in time, size, address and redirects. `mayUseHttp` permits http to this machine. */
export function createGuardedFetch(send: typeof globalThis.fetch, mayUseHttp: boolean): GuardedFetch {
  return async (url, init) => {
    checkEndpoint(url, mayUseHttp);
    const host = new URL(url).host;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), REQUEST_LASTS_MS);
    try {
      const response = await send(url, { ...init, redirect: 'manual', signal: timeout.signal });
      return await checked(response, host);
    } catch (error) {
      throw failureOf(error, host, timeout.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
  };
}

function checkEndpoint(address: string, mayUseHttp: boolean): void {
  const url = new URL(address);
  const isSafe =
    url.protocol === 'https:' || (mayUseHttp && url.protocol === 'http:' && isLoopback(url.hostname));
  if (!isSafe || url.username !== '' || url.password !== '')
    throw new OAuthRequestError('An endpoint in the metadata of the issuer is not https, or contains a user');
}

async function checked(response: Response, host: string): Promise<Response> {
  const { status, headers } = response;
  if (status >= 300 && status < 400)
    throw new OAuthRequestError(`${host} redirects an OAuth request, and redirects are not followed`);
  // Also where the body names an OAuth error: one sent by a broken server must not cost the user the token.
  if (status >= 500 || status === 429 || status === 408)
    throw new OAuthRequestError(`${host} is out of order: status ${status}. Try again later`, {
      retryable: true,
    });
  const body = await readBody(response, host);
  return new Response(body.length === 0 ? null : body, { status, headers });
}

async function readBody(response: Response, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const stream: AsyncIterable<Uint8Array> | Uint8Array[] = response.body ?? [];
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES)
      throw new OAuthRequestError(`${host} answered with more than ${RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  const body = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

function failureOf(error: unknown, host: string, isTimeout: boolean): OAuthRequestError {
  if (error instanceof OAuthRequestError) return error;
  const reason = isTimeout ? `no answer within ${REQUEST_LASTS_MS / 1000} s` : networkCodeOf(error);
  return new OAuthRequestError(`${host} cannot be reached: ${reason}. Try again later`, { retryable: true });
}

function networkCodeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ('code' in each && typeof each.code === 'string' && /^[A-Z_]{3,50}$/.test(each.code)) return each.code;
  }
  return 'the connection failed';
}
