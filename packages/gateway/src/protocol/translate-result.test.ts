import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { RpcError } from '../errors.ts';
import { lineBytes, splice } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import type { Era } from './eras.ts';
import { answerEdits } from './translate-result.ts';

const INFO = '"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}';

describe('a response translated for a legacy client', () => {
  verifies('ERA-1', 'a response for a legacy client contains no members of the modern era', () => {
    const result = `{"resultType":"complete","content":[],"_meta":{${INFO}}}`;
    expect(adapted(`"result":${result}`, 'legacy')).toBe('"result":{"content":[]}');
  });

  verifies('ERA-1', 'a response for a legacy client keeps its other members byte for byte', () => {
    const result = `{"z":12345678901234567890,"_meta":{"a":1.0, ${INFO} ,"b":{}},"resultType":"complete"}`;
    expect(adapted(`"result":${result}`, 'legacy')).toBe(
      '"result":{"z":12345678901234567890,"_meta":{"a":1.0,"b":{}}}',
    );
  });

  verifies(
    'ERA-1',
    "a response for a legacy client keeps a tool's own ttlMs and drops that of a resource",
    () => {
      const body = '"result":{"ttlMs":5,"cacheScope":"public","contents":[]}';
      expect(adapted(body, 'legacy', 'tools/call')).toBe(body);
      expect(adapted(body, 'legacy', 'resources/read')).toBe('"result":{"contents":[]}');
    },
  );

  verifies('ERA-1', 'a round for a legacy client is translated to an error', () => {
    const message = answer('"result":{"resultType":"input_required","inputRequests":{}}');
    const hop = { from: 'modern', to: 'legacy' } as const;
    expect(answerEdits(message, 'tools/call', hop)).toBeInstanceOf(RpcError);
  });
});

describe('a response translated for a modern client', () => {
  verifies(
    'ERA-1',
    'a response for a modern client gets resultType complete, and cache hints for a resource',
    () => {
      expect(adapted('"result":{"a":1}', 'modern')).toBe('"result":{"resultType":"complete","a":1}');
      expect(adapted('"result":{}', 'modern', 'resources/read')).toBe(
        '"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private"}',
      );
    },
  );

  verifies('ERA-1', 'an error for a modern client gets the code -32602 where a resource is missing', () => {
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
