// File servers in processes of their own, under load and without room on the disk.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createFileFetchHandler, createResourceStore } from '@weir/server/files';
import { afterEach, beforeAll, describe, expect } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { until } from '../support/processes.ts';
import { bundleProgram } from '../support/program.ts';
import { verifies } from '../verifies.ts';
import { askRaw, doors, onLinuxOnly, openFilesBelow } from './file-doors.ts';

const KIT = 'KIT-FILES-1';
const MIB = 1024 ** 2;

/** Gigabytes take a while on a machine that does other things too. */
const STREAMING_LIMIT_MS = 240_000;

const onLinux = verifies.skipIf(onLinuxOnly);

/** Serves the folder of its first argument to all, by the router, and with `fetch` as second argument by the handler. */
const SERVER = `
  import { createServer } from 'node:http';
  import { createFileFetchHandler, createFileServingRouter } from '@weir/server/files';
  const [, , resourceStoreUri, kind, stallMs] = process.argv;
  const config = {
    routePrefix: '/exports',
    resourceStoreUri,
    getMetadata: async (filename) => ({ filename }),
    limits: { stallMs: Number(stallMs), maxDownloads: 100 },
  };
  const handler = createFileFetchHandler(config);
  const serveFetch = async (request, response) => {
    const answer = await handler(new Request('http://localhost' + request.url));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    const reader = answer.body.getReader();
    response.on('close', () => void reader.cancel().catch(() => undefined));
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      if (!response.write(piece.value)) await new Promise((resolve) => response.once('drain', resolve));
    response.end();
  };
  const server = createServer(kind === 'fetch' ? serveFetch : createFileServingRouter(config));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/** Puts 1 MiB into the store of its argument and prints the error. */
const WRITER = `
  import { createResourceStore } from '@weir/server/files';
  const store = createResourceStore({ uri: process.argv[2] });
  try {
    await store.put(Buffer.alloc(1024 * 1024), { filename: 'x' });
    console.log('written');
  } catch (error) {
    console.log(error.code);
  }
`;

let server: string;
let writer: string;
let children: ChildProcess[] = [];

/** Puts 15 files into the store of its argument, whose owner may have 20, and prints the number of those it took. */
const QUOTA_WRITER = `
  import { createResourceStore } from '@weir/server/files';
  const store = createResourceStore({ uri: process.argv[2], quota: { ownerFiles: 20 } });
  await store.put('x', { filename: 'x', owner: 'bob' + process.pid });
  process.stdout.write('ready\\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  let taken = 0;
  for (let n = 0; n < 15; n++) await store.put('x', { filename: 'x', owner: 'ada' }).then(() => taken++, () => 0);
  console.log(taken);
  process.exit();
`;

beforeAll(async () => {
  [server, writer] = await Promise.all([bundleProgram(SERVER), bundleProgram(WRITER)]);
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

describe('files under load', () => {
  onLinux.slow(
    KIT,
    'a sparse file of 4 GB is streamed by the router with under 20 MB over its start',
    async () => {
      const { received, memory } = await streamSparse('router', 4 * 1024 ** 3);
      expect(received).toBe(4 * 1024 ** 3);
      expect(memory).toBeLessThan(20e6);
    },
    STREAMING_LIMIT_MS,
  );

  // A stream of the web makes a buffer for each piece, which is garbage until V8 collects it.
  onLinux.slow(
    KIT,
    'a sparse file of 1 GB is streamed by the fetch handler with under 80 MB over its start',
    async () => {
      const { received, memory } = await streamSparse('fetch', 1024 ** 3);
      expect(received).toBe(1024 ** 3);
      expect(memory).toBeLessThan(80e6);
    },
    STREAMING_LIMIT_MS,
  );

  onLinux(
    KIT,
    '100 slow readers take a bounded memory and one descriptor each, and more are refused (F24)',
    async () => {
      const root = folderWith('large', 1024 ** 3);
      const { pid, port } = await start(root, 'router', 2000);
      const before = peakBytes(pid);
      const readers = await Promise.all(Array.from({ length: 100 }, () => openReader(port, 'large')));
      await until(() => openFilesBelow(root, pid).length === 100);
      expect(await askRaw(port, '/exports/large')).toMatchObject({
        status: 503,
        headers: { 'retry-after': '5' },
      });
      expect(await askRaw(port, '/exports/unknown')).toMatchObject({ status: 503 });
      expect(peakBytes(pid) - before).toBeLessThan(100 * 0.5 * MIB);
      // Readers that take nothing for the limit lose their download, and others get their places.
      await until(() => openFilesBelow(root, pid).length === 0);
      expect(await askRaw(port, '/exports/unknown')).toMatchObject({ status: 404 });
      for (const reader of readers) reader.destroy();
    },
  );

  for (const kind of ['router', 'fetch'])
    onLinux(KIT, `the ${kind} closes the descriptor of a client that has gone (F23)`, async () => {
      const root = folderWith('large', 1024 ** 3);
      const { pid, port } = await start(root, kind, 600_000);
      const reader = await openReader(port, 'large');
      await until(() => openFilesBelow(root, pid).length === 1);
      reader.destroy();
      await until(() => openFilesBelow(root, pid).length === 0);
    });

  verifies(
    KIT,
    '10,000 ids tried by a stranger get one answer, as fast for those that exist (F22)',
    async () => {
      const root = temporaryFolder();
      const store = createResourceStore({ uri: pathToFileURL(root).href });
      const { id } = await store.put('secret', { filename: 'x', owner: 'ada' });
      const [, open] = doors[2] ?? doors[0]!;
      const door = await open({
        routePrefix: '/exports',
        resourceStoreUri: pathToFileURL(root).href,
        principal: (request) => request.header('x-user'),
      });
      const answers = new Set<string>();
      const times: Record<string, number[]> = {};
      for (let count = 0; count < 10_000; count++) {
        const isKnown = count % 2 === 0;
        // Half of the guesses come from a user who is logged in, for whom the store is read.
        const user = count % 4 < 2 ? 'eve' : undefined;
        const target = `/exports/${isKnown ? id : randomId(count)}`;
        const began = performance.now();
        const answer = await door.ask(target, { headers: user === undefined ? {} : { 'x-user': user } });
        (times[`${user} ${isKnown}`] ??= []).push(performance.now() - began);
        answers.add(JSON.stringify(answer));
      }
      expect(answers.size).toBe(1);
      expect([...answers].join()).toContain('404');
      for (const user of ['eve', 'undefined']) {
        const ratio = median(times[`${user} true`]) / median(times[`${user} false`]);
        expect(ratio).toBeGreaterThan(0.6);
        expect(ratio).toBeLessThan(1.7);
      }
    },
  );

  verifies(KIT, 'a write over the quota leaves nothing of the file (F25)', async () => {
    const root = temporaryFolder();
    const store = createResourceStore({ uri: pathToFileURL(root).href, quota: { ownerBytes: 1000 } });
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (let count = 0; count < 11; count++) yield Buffer.alloc(100);
    };
    await expect(store.put(pieces(), { filename: 'x', owner: 'ada' })).rejects.toThrow(
      'would exceed 1000 bytes',
    );
    expect(readdirSync(root)).toEqual([]);
    await store.put(Buffer.alloc(1000), { filename: 'x', owner: 'ada' });
  });

  verifies(KIT, 'three processes on one folder keep to the quota of an owner together', async () => {
    const root = temporaryFolder();
    const program = await bundleProgram(QUOTA_WRITER);
    const children = [1, 2, 3].map(() => spawn(process.execPath, [program, pathToFileURL(root).href]));
    const told = children.map(() => '');
    children.forEach((child, n) => child.stdout.on('data', (chunk) => (told[n] += String(chunk))));
    await until(() => told.every((text) => text === 'ready\n'));
    const ended = children.map((child) => once(child, 'close'));
    for (const child of children) child.stdin.write('go');
    await Promise.all(ended);
    const taken = told.map((text) => Number(text.split('\n')[1]));
    expect(taken.reduce((sum, count) => sum + count, 0)).toBe(20);
    const store = createResourceStore({ uri: pathToFileURL(root).href });
    expect(await store.list('ada')).toHaveLength(20);
  });

  onLinux(KIT, 'a response of the fetch handler that is never read loses its descriptor (F24)', async () => {
    const root = folderWith('large', MIB);
    const handler = createFileFetchHandler({
      routePrefix: '/exports',
      resourceStoreUri: pathToFileURL(root).href,
      getMetadata: async (filename) => ({ filename }),
      limits: { stallMs: 50 },
    });
    const response = await handler(new Request('http://localhost/exports/large'));
    expect(openFilesBelow(root)).toHaveLength(1);
    await until(() => openFilesBelow(root).length === 0);
    await expect(response.text()).rejects.toThrow('was not read for 50 ms');
  });

  onLinux(KIT, 'a disk that takes no more leaves nothing of the file that did not fit (F25)', async () => {
    const root = temporaryFolder();
    const child = spawn('sh', [
      '-c',
      `ulimit -f 64; exec "$0" "$@"`,
      process.execPath,
      writer,
      pathToFileURL(root).href,
    ]);
    let told = '';
    child.stdout.on('data', (chunk) => (told += String(chunk)));
    await once(child, 'close');
    expect(told).toBe('EFBIG\n');
    expect(readdirSync(root)).toEqual([]);
  });
});

async function streamSparse(kind: string, bytes: number): Promise<{ received: number; memory: number }> {
  const { pid, port } = await start(folderWith('large', bytes), kind);
  const before = peakBytes(pid);
  const received = await download(port, 'large');
  return { received, memory: peakBytes(pid) - before };
}

function folderWith(name: string, bytes: number): string {
  const root = join(temporaryFolder(), 'files');
  mkdirSync(root);
  writeFileSync(join(root, name), '');
  truncateSync(join(root, name), bytes);
  return root;
}

async function start(root: string, kind: string, stallMs = 30_000): Promise<{ pid: number; port: number }> {
  const child = spawn(process.execPath, [server, pathToFileURL(root).href, kind, String(stallMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, port: Number(line) };
}

/** Counts the bytes of a body and drops them. */
async function download(port: number, id: string): Promise<number> {
  const buffer = Buffer.alloc(MIB);
  let received = 0;
  let head = '';
  const onread = {
    buffer,
    callback: (length: number) => {
      if (!head.includes('\r\n\r\n')) head += buffer.toString('latin1', 0, length);
      received += length;
      return true;
    },
  };
  const socket = connect({ port, host: '127.0.0.1', onread });
  socket.write(`GET /exports/${id} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`);
  await once(socket, 'close');
  return received - (head.indexOf('\r\n\r\n') + 4);
}

/** Asks for a file and reads nothing of the answer but what the socket takes by itself. */
async function openReader(port: number, id: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`GET /exports/${id} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

/** Most memory that a process has had, in bytes. */
function peakBytes(pid: number): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function randomId(seed: number): string {
  return Buffer.from(`${seed}`.padStart(16, '0')).toString('base64url');
}

function median(values: number[] = []): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
