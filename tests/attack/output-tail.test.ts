// Slices must not lose the answers that a server wrote before it ended.
import { expect } from 'vitest';
import { scripted, startWeir, textOf } from '../support/harness.ts';
import { verifies } from '../verifies.ts';

const CALLS = 2000;

verifies('AGG-CALL-1', 'H2: all answers of a server that ends right after them arrive', async () => {
  const brief = scripted(`
    import { serve, text, tool } from 'stdio';
    const ids = [];
    serve({
      name: 'brief',
      tools: [tool('wait')],
      call: {
        wait(_args, { id }) {
          if (ids.push(id) < ${CALLS}) return;
          const lines = ids.map((each) => JSON.stringify({ jsonrpc: '2.0', id: each, result: text('done') }));
          process.stdout.write(lines.join('\\n') + '\\n', () => process.exit(0));
        },
      },
    });`);
  await using weir = startWeir({ brief });
  await weir.tools();
  const answers = await Promise.all(Array.from({ length: CALLS }, () => weir.callTool('brief:wait')));
  expect(answers.filter((answer) => textOf(answer) !== 'done')).toEqual([]);
});
