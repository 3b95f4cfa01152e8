// What every contestant reads from its command line, and says to the bench.
import { parseArgs } from 'node:util';

export const SERVER_INFO = { name: 'bench', version: '1.0.0' };

/** `port` is undefined for stdio. */
export function readOptions() {
  const { values } = parseArgs({
    options: {
      tools: { type: 'string', default: '100' },
      port: { type: 'string' },
      plain: { type: 'boolean', default: false },
      inside: { type: 'boolean', default: false },
      sessions: { type: 'boolean', default: false },
    },
  });
  const { tools, port, ...more } = values;
  return { ...more, count: Number(tools), port: port === undefined ? undefined : Number(port) };
}

/** Says that the server listens, and answers the bench's questions for its memory. */
export function announce(port) {
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  process.on('message', () => {
    // Twice, because what the first run finalises is freed by the second.
    globalThis.gc();
    globalThis.gc();
    process.send(process.memoryUsage());
  });
}
