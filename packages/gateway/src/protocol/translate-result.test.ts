import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { RpcError } from '../errors.ts';
import { lineBytes, splice } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import type { Era } from './eras.ts';
import { answerEdits } from './translate-result.ts';

const INFO = '"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}';

describe('an answer for a client of an earlier revision', () => {
  verifies('ERA-1', 'says nothing that only the modern revision has', () => {
    const result = `{"resultType":"complete","content":[],"_meta":{${INFO}}}`;
    expect(adapted(`"result":${result}`, 'legacy')).toBe('"result":{"content":[]}');
  });

  verifies('ERA-1', 'keeps everything else, byte for byte', () => {
    const result = `{"z":12345678901234567890,"_meta":{"a":1.0, ${INFO} ,"b":{}},"resultType":"complete"}`;
    expect(adapted(`"result":${result}`, 'legacy')).toBe(
      '"result":{"z":12345678901234567890,"_meta":{"a":1.0,"b":{}}}',
    );
  });

  verifies('ERA-1', 'keeps a ttlMs of the tool itself and drops that of a read', () => {
    const body = '"result":{"ttlMs":5,"cacheScope":"public","contents":[]}';
    expect(adapted(body, 'legacy', 'tools/call')).toBe(body);
    expect(adapted(body, 'legacy', 'resources/read')).toBe('"result":{"contents":[]}');
  });

  verifies('ERA-1', 'is an error where the server wants another round', () => {
    const message = answer('"result":{"resultType":"input_required","inputRequests":{}}');
    const hop = { from: 'modern', to: 'legacy' } as const;
    expect(answerEdits(message, 'tools/call', hop)).toBeInstanceOf(RpcError);
  });
});

describe('an answer for a client of the modern revision', () => {
  verifies('ERA-1', 'says that it is complete, and how long a read may be kept', () => {
    expect(adapted('"result":{"a":1}', 'modern')).toBe('"result":{"resultType":"complete","a":1}');
    expect(adapted('"result":{}', 'modern', 'resources/read')).toBe(
      '"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private"}',
    );
  });

  verifies('ERA-1', 'has another code where a resource is missing', () => {
    const error = (code: number): string => `"error":{"code":${code},"message":"m","data":{"uri":"x:y"}}`;
    expect(adapted(error(-32002), 'modern')).toBe(error(-32602));
    expect(adapted(error(-32001), 'modern')).toBe(error(-32001));
  });
});

function adapted(body: string, to: Era, method = 'tools/call'): string {
  const message = answer(body);
  const edits = answerEdits(message, method, { from: to === 'legacy' ? 'modern' : 'legacy', to });
  if (edits instanceof RpcError) throw edits;
  return lineBytes(splice(message.bytes, edits)).toString().slice('{"jsonrpc":"2.0","id":1,'.length, -1);
}

function answer(body: string): Message {
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${body}}`));
  if (message.kind !== 'response') throw new Error(`not a response: ${message.kind}`);
  return message;
}
