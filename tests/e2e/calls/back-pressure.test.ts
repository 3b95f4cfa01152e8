// @module-tag slow
// A peer that stops reading: back-pressure reaches only those that write to it, and memory stays bounded.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { fixture, scripted, startWeir, textOf, type Received } from '../../support/harness.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const MB = 1024 * 1024;
const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'reads memory from /proc');

/** Megabytes of memory that a process holds now. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

describe('a client that stops reading', () => {
  for (const sharing of ['shared', 'per-session'])
    onLinux(
      ['AGG-CALL-1', 'AGG-PERF-1'],
      `a client that stops reading pauses ${sharing} servers: 300 MB of answers cost no memory`,
      async () => {
        await using weir = startWeir({ b: { ...fixture('big-results'), sharing } });
        await weir.tools();
        await weir.callTool('b:big', { bytes: MB });
        const before = memoryOf(weir.pid);
        const { stdout } = weir;
        stdout.pause();
        stdout.removeAllListeners('data');
        for (let id = 1000; id < 1300; id++)
          weir.send({ id, method: 'tools/call', params: { name: 'b:big', arguments: { bytes: MB } } });
        let highest = before;
        for (let i = 0; i < 40; i++) {
          await delay(50);
          highest = Math.max(highest, memoryOf(weir.pid));
        }
        expect(highest - before).toBeLessThan(16);

        const ids: number[] = [];
        let text = '';
        for await (const chunk of stdout) {
          text += (chunk as Buffer).toString('latin1');
          const lines = text.split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) {
            expect(line.length).toBeGreaterThan(MB);
            ids.push((JSON.parse(line) as { id: number }).id);
          }
          if (ids.length === 300) break;
        }
        expect(ids).toEqual(Array.from({ length: 300 }, (_, i) => 1000 + i));
      },
    );
});

describe('a server that stops reading', () => {
  const call = { name: 's:echo', arguments: { text: 'x'.repeat(MB) } };

  verifies('AGG-CALL-1', 'a server that stops reading fails only its own calls, after 16 MiB', async () => {
    await using weir = serveInProcess({ s: fixture('stops-reading'), e: fixture('echo') });
    await weir.tools();
    const refused: Received[] = [];
    for (let id = 0; id < 24; id++) {
      weir.send({ id: `big ${id}`, method: 'tools/call', params: call });
      expect(textOf(await weir.callTool('e:echo', { text: `${id}` }))).toBe(`${id}`);
    }
    for (const { id, error } of weir.messages)
      if (error !== undefined) refused.push({ id: id ?? null, error });
    expect(refused.map(({ id }) => id)).toEqual(
      Array.from({ length: refused.length }, (_, i) => `big ${24 - refused.length + i}`),
    );
    expect(refused.length).toBeGreaterThanOrEqual(6);
    expect(refused.length).toBeLessThanOrEqual(8);
    expect(refused[0]?.error).toEqual({
      code: -32000,
      message:
        "Server 's' is not reading: 16 MiB are queued for it. Send less at once or try again; if it does not recover, restart it.",
    });
  });

  verifies('AGG-CALL-1', 'a server that reads again gets all waiting calls and further ones', async () => {
    await using weir = serveInProcess({ s: fixture('stops-reading', '1000') });
    await weir.tools();
    const answers = await Promise.all(Array.from({ length: 24 }, () => weir.request('tools/call', call)));
    const good = answers.filter(({ error }) => error === undefined);
    expect(good.length).toBeGreaterThanOrEqual(16);
    for (const answer of good) expect(textOf(answer)).toBe(String(MB));
    expect(textOf(await weir.request('tools/call', call))).toBe(String(MB));
  });

  onLinux(
    'AGG-PERF-1',
    'a server that stops reading costs the gateway no more memory than its limit',
    async () => {
      await using weir = startWeir({ s: fixture('stops-reading'), e: fixture('echo') });
      await weir.tools();
      await weir.callTool('e:echo', { text: 'x'.repeat(MB) });
      const before = memoryOf(weir.pid);
      for (let id = 0; id < 100; id++) weir.send({ id: `big ${id}`, method: 'tools/call', params: call });
      await weir.answer('big 99');
      expect(memoryOf(weir.pid) - before).toBeLessThan(64);
    },
  );
});

describe('a line over the limit', () => {
  const limit = { maxMessageSize: MB };

  verifies(
    'AGG-CALL-1',
    'a line of a server over the limit fails only the call that it answers',
    async () => {
      await using weir = startWeir(
        { b: fixture('big-results'), e: fixture('echo') },
        { args: ['--max-message-size', '1M'] },
      );
      await weir.tools();
      const calls = [100, MB - 100, 2 * MB, 5 * MB, 1000].map((bytes) => weir.callTool('b:big', { bytes }));
      const [small, justFits, tooLarge, muchTooLarge, next] = await Promise.all(calls);
      expect(textOf(small!)).toHaveLength(100);
      expect(textOf(justFits!)).toHaveLength(MB - 100);
      for (const answer of [tooLarge, muchTooLarge]) {
        expect(answer?.error).toMatchObject({
          code: -32000,
          message: expect.stringMatching(
            /^Server 'b' sent a message of \d+ bytes, over the limit of 1048576; raise --max-message-size/u,
          ) as string,
        });
      }
      expect(textOf(next!)).toHaveLength(1000);
      expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
    },
  );

  verifies(
    'AGG-CALL-1',
    'a line of the client over the limit fails its own request, wherever its id stands',
    async () => {
      await using weir = serveInProcess({ b: fixture('big-results') }, limit);
      await weir.tools();
      const large = 'x'.repeat(2 * MB);
      weir.send(
        `{"jsonrpc":"2.0","id":"front","method":"tools/call","params":{"name":"b:length","arguments":{"id":7,"x":"${large}"}}}`,
      );
      weir.send(
        `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"b:length","arguments":{"id":7,"x":"${large}"}},"id":"back"}`,
      );
      for (const id of ['front', 'back']) {
        expect((await weir.answer(id)).error).toMatchObject({
          code: -32600,
          message: expect.stringContaining('over the limit of 1048576') as string,
        });
      }
      expect(textOf(await weir.callTool('b:length', { x: 'y' }))).toMatch(/^\d+$/u);
    },
  );

  verifies(
    'AGG-CALL-1',
    'the gateway drops and logs a line over the limit that answers no call',
    async () => {
      const loud = scripted(`
      import { ask, notify, serve, text, tool } from 'stdio';
      const large = 'x'.repeat(${2 * MB});
      serve({ name: 'loud', tools: [tool('notify'), tool('ask'), tool('wait')], call: {
        notify: () => (notify('notifications/message', { level: 'info', data: large }), text('said')),
        ask: async () => text(JSON.stringify((await ask('elicitation/create', { message: large })).error)),
        wait: async () => text(JSON.stringify((await ask('roots/list')).error)),
      } });`);
      await using weir = serveInProcess({ l: loud }, limit);
      const ask = await open(weir, 'legacy', { elicitation: {}, roots: {} });
      expect(textOf(await ask('tools/call', { name: 'l:notify' }))).toBe('said');
      expect(textOf(await ask('tools/call', { name: 'l:ask' }))).toMatch(/over the limit of 1048576/u);
      expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
      // The other way round: the client's answer is too large, and the server hears so.
      const waiting = ask('tools/call', { name: 'l:wait' });
      const { id } = await weir.call('roots/list');
      weir.send({ id, result: { roots: [], x: 'x'.repeat(2 * MB) } });
      expect(textOf(await waiting)).toMatch(/over the limit of 1048576/u);
      expect(weir.logged.filter((line) => line.includes('over the limit'))).toHaveLength(3);
    },
  );
});
