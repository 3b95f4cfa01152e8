import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { FoundGateway, ToolInvocationRequest } from '@weir/gateway';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../../tests/support/processes.ts';
import type { Context } from '../context.ts';
import { PROGRAM } from '../program.ts';
import { followHistory, showHistory } from './history.ts';

const NOW = 1_800_000_000_000;

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-follow-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function call(name: string, times: Partial<ToolInvocationRequest>): ToolInvocationRequest {
  const status = times.completedAt === undefined ? 'executing' : 'success';
  const source = 'mcp-client';
  return {
    id: `x-${name}`,
    serverId: 's',
    toolName: name,
    source,
    status,
    submittedAt: NOW,
    retryAttempt: 0,
    maxRetries: 0,
    ...times,
  };
}

function contextWith(output: PassThrough, stopped: Promise<void>): Context {
  return {
    env: {},
    platform: process.platform,
    output,
    program: PROGRAM,
    now: () => NOW,
    stopped: () => stopped,
    onHangUp() {},
  };
}

/** Starts a gateway that remembers these calls; `tell` reports the end of one more. */
async function gateway(known: readonly ToolInvocationRequest[]) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write(`${JSON.stringify({ id: 1, result: known })}\n`);
  });
  const socketPath = { pid: 1, path: join(folder, '1.sock') };
  await new Promise<void>((resolve) => server.listen(socketPath.path, resolve));
  return {
    found: { socketPath, report: {} as FoundGateway['report'] },
    isFollowed: () => sockets.size === 2,
    tell: (params: ToolInvocationRequest) =>
      sockets.forEach((socket) =>
        socket.write(
          `${JSON.stringify({ method: 'event', params: { type: 'call-ended', at: NOW, call: params } })}\n`,
        ),
      ),
    [Symbol.dispose]() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

/** Follows a gateway that remembers one call and reports the end of another; returns the states that were printed. */
async function followed(known: ToolInvocationRequest, ended: ToolInvocationRequest): Promise<string[]> {
  using one = await gateway([known]);
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const output = new PassThrough();
  let told = '';
  output.setEncoding('utf8').on('data', (text: string) => (told += text));
  const lines = (): string[] => told.split('\n').filter((line) => line !== '');
  const values = { follow: true, json: true, pid: 1 };
  const following = followHistory([one.found], values, contextWith(output, stopped));
  await until(one.isFollowed, 5000);
  one.tell(ended);
  await until(() => lines().length === 2, 5000).catch(() => {});
  stop();
  await following;
  return lines().map((line) => (JSON.parse(line) as ToolInvocationRequest).status);
}

test('weir history --follow prints a running call again when it ends', async () => {
  const underWay = call('one', {});
  expect(await followed(underWay, { ...underWay, status: 'success', completedAt: NOW + 5 })).toEqual([
    'executing',
    'success',
  ]);
});

test('weir history --follow prints calls even after the clock was set back', async () => {
  expect(
    await followed(call('one', { completedAt: NOW }), call('two', { completedAt: NOW - 3_600_000 })),
  ).toEqual(['success', 'success']);
});

test.each([
  { submittedAt: 1e300 },
  { startedAt: 'yesterday' },
  { completedAt: {} },
  { error: null },
  { error: { message: 7 } },
  { retryAttempt: '1' },
  null,
])('a history line that was edited to %j is skipped, and the others are shown', async (changed) => {
  const good = call('good', { completedAt: NOW });
  const lines = [changed && { ...call('bad', {}), ...changed }, good].map((line) => JSON.stringify(line));
  mkdirSync(join(folder, 'history'));
  writeFileSync(join(folder, 'history', '000000000-1.jsonl'), lines.join('\n'));
  const output = new PassThrough().setEncoding('utf8');
  const context = contextWith(output, new Promise<void>(() => {}));
  expect(await showHistory([], { state: folder }, context)).toEqual([good]);
  expect(output.read()).toContain('good');
});
