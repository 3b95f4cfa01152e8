import { describe, expect, test } from 'vitest';
import { checkPost, checkAcceptsEvents } from './body.ts';
import type { IncomingRequest } from './server/incoming-request.ts';

const BOTH = 'application/json, text/event-stream';

function request(type: string | undefined, accept: string | undefined): IncomingRequest {
  const headers = Object.entries({ 'content-type': type, accept }).filter(([, value]) => value !== undefined);
  return { headers: new Map(headers) } as unknown as IncomingRequest;
}

describe('content types', () => {
  test.each([
    ['application/json', undefined],
    ['application/json; charset=utf-8', undefined],
    ['APPLICATION/JSON ;x=y', undefined],
    ['application/json-patch+json', 415],
    ['text/plain;application/json', 415],
    ['', 415],
    [undefined, 415],
  ])('checkPost of the content type %s returns the status %s', (type, status) => {
    expect(checkPost(request(type, BOTH))?.status).toBe(status);
  });

  test.each([
    [BOTH, undefined],
    ['text/event-stream;q=0.5,application/json', undefined],
    ['text/*, application/*', undefined],
    ['*/*', undefined],
    ['application/json', 406],
    ['application/jsonp, text/event-stream', 406],
    ['text/html', 406],
    [undefined, 406],
  ])('checkPost of a client that accepts %s returns the status %s', (accept, status) => {
    expect(checkPost(request('application/json', accept))?.status).toBe(status);
  });

  test('checkAcceptsEvents does not require a client to accept JSON', () => {
    expect(checkAcceptsEvents(request(undefined, 'text/event-stream'))).toBeUndefined();
    expect(checkAcceptsEvents(request(undefined, 'application/json'))?.status).toBe(406);
  });
});
