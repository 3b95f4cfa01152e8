// The stdio server behind every variant: `server.mjs [--tools=N] [--output-schema]`.
import { createAnswers } from './answers.mjs';
import { splitLines } from './lines.mjs';

const answer = createAnswers(process.argv);
let pending = '';

process.stdin.on(
  'data',
  splitLines((line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) write(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
  }),
);

// One write per tick, as a careful server does it; big answers go out at once.
function write(line) {
  if (pending === '') queueMicrotask(flush);
  pending += `${line}\n`;
  if (pending.length > 65_536) flush();
}

function flush() {
  const text = pending;
  pending = '';
  if (text === '' || process.stdout.write(text) || process.stdin.isPaused()) return;
  // A server that read on while nobody takes its answers would fill the machine instead of the gateway.
  process.stdin.pause();
  process.stdout.once('drain', () => process.stdin.resume());
}
