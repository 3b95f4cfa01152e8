import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectInMemory } from '@weir/server/testing';
import { createServer } from './server.ts';

test('greeting-get greets a person by name', async () => {
  await using client = await connectInMemory(() => createServer());
  const { structuredContent } = await client.callTool('greeting-get', { name: 'Ada' });
  assert.deepEqual(structuredContent, { type: 'success', item: { greeting: 'Hello, Ada!' } });
});
