import { describe, expect, test } from 'vitest';
import { lightRequest } from './light-request.ts';

const abort = new AbortController();
const headers = {
  'content-type': 'application/json',
  'set-cookie': ['a=1', 'b=2'],
  'x-one': 'one',
  ':path': '/',
};
const light = (method = 'POST'): Request =>
  lightRequest({
    method,
    headers,
    header: (name) => [(headers as Record<string, string | string[]>)[name]].flat()[0],
    url: () => 'http://localhost:1/mcp?x=1',
    signal: () => abort.signal,
    body: () => ({ jsonrpc: '2.0' }),
  });

describe('lightRequest', () => {
  test('a light request has the method, the URL and the signal of its parts', () => {
    const { method, url, signal } = light();
    expect([method, url, signal]).toEqual(['POST', 'http://localhost:1/mcp?x=1', abort.signal]);
  });

  test('headers are read in any letter case, and null is what is missing', () => {
    const request = light();
    expect(request.headers.get('X-One')).toBe('one');
    expect(request.headers.get('x-two')).toBeNull();
    expect([request.headers.has('x-one'), request.headers.has('x-two')]).toEqual([true, false]);
  });

  test('headers are listed and changed as those of a real request', () => {
    const request = light();
    request.headers.set('x-one', 'changed');
    expect(request.headers.get('x-one')).toBe('changed');
    expect(new Headers(request.headers).get('x-one')).toBe('changed');
    expect(request.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([...request.headers.keys()]).not.toContain(':path');
  });

  test('a light request gives its body, once', async () => {
    const request = light();
    expect(await request.clone().json()).toEqual({ jsonrpc: '2.0' });
    expect(await request.text()).toBe('{"jsonrpc":"2.0"}');
    expect(request.bodyUsed).toBe(true);
  });

  test('a light GET has no body', () => {
    expect(light('GET').body).toBeNull();
  });
});
