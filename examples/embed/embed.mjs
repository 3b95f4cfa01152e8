// The gateway inside a program of one's own: two servers, one list of tools, one call.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createGateway } from '@weir/gateway';

const server = (name) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url))],
});

const gateway = createGateway({ mcpServers: { clock: server('clock'), dice: server('dice') } });
try {
  const names = (await gateway.listTools()).map(({ name }) => name);
  assert.deepEqual(names, ['clock:time-get', 'clock:zone-search', 'dice:roll-get']);
  const { content, structuredContent } = await gateway.callTool('dice:roll-get', { dice: '3d6' });
  assert.equal(structuredContent.item.rolls.length, 3);
  console.log(content[0].text);
} finally {
  await gateway.close();
}
