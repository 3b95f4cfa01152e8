import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { systemTimers } from './schedule.ts';

verifies(
  ['HEALTH-1', 'HEALTH-4'],
  'a timer fires after input that came before it is read, even if the process stood still',
  async () => {
    const child = spawn(process.execPath, ['-e', 'console.log("ready"); process.stdin.pipe(process.stdout)']);
    await once(child.stdout, 'data');
    const order: string[] = [];
    child.stdout.once('data', () => order.push('answer'));
    const over = new Promise<void>((resolve) => {
      systemTimers.later(500, () => resolve(void order.push('over')));
    });
    child.stdin.end('ping\n');
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    await over;
    expect(order).toEqual(['answer', 'over']);
  },
);

test('a timer that is cancelled in the turn when it is due does not fire', async () => {
  let isDone = false;
  const callOff = systemTimers.later(1, () => (isDone = true));
  setTimeout(callOff, 1);
  // Both are due in the same turn of the event loop: neither may fire alone because this process was held up.
  for (const end = Date.now() + 5; Date.now() < end;);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isDone).toBe(false);
});
