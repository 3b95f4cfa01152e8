// The ways into a file server, each asked with the bytes of the target as they are: `fetch` would normalise them.
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createFileFetchHandler, createFileServingRouter, type FileServingConfig } from '@weir/server/files';
import express from 'express';

export interface Answer {
  readonly status: number;
  /** By lower-case name; without those that differ from request to request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** False where the connection ended before the promised bytes. */
  readonly isComplete: boolean;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Runs once the first bytes are there, while the rest is not read. */
  readonly meanwhile?: () => void;
}

export interface Door extends AsyncDisposable {
  ask(target: string, asked?: Asked): Promise<Answer>;
  /** Port of the server; undefined for a fetch handler. */
  readonly port?: number;
  close(): Promise<void>;
}

export type OpenDoor = (config: FileServingConfig) => Promise<Door>;

export const doors: readonly [string, OpenDoor][] = [
  ['the router on Express', (config) => listen(express().use('/exports', createFileServingRouter(config)))],
  ['the router on node:http', (config) => listen(createFileServingRouter(config))],
  ['the fetch handler', openFetchHandler],
];

export async function listen(listener: RequestListener): Promise<Door> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => closeServer(server);
  return { port, ask: (target, asked) => askRaw(port, target, asked), close, [Symbol.asyncDispose]: close };
}

async function openFetchHandler(config: FileServingConfig): Promise<Door> {
  const handler = createFileFetchHandler(config);
  const ask = async (target: string, asked: Asked = {}): Promise<Answer> => {
    const { method = 'GET', headers = {}, meanwhile } = asked;
    const response = await handler(new Request(`http://127.0.0.1${target}`, { method, headers }));
    const body = await readText(response, meanwhile).catch(() => undefined);
    const sent = Object.fromEntries(response.headers);
    return {
      status: response.status,
      headers: stable(sent),
      body: body ?? '',
      isComplete: body !== undefined,
    };
  };
  const close = async (): Promise<void> => undefined;
  return { ask, close, [Symbol.asyncDispose]: close };
}

async function readText({ body }: Response, meanwhile?: () => void): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    if (pieces.push(piece) === 1) meanwhile?.();
  }
  return Buffer.concat(pieces).toString();
}

/** Sends a request over a socket and reads until the server closes it. */
export function askRaw(port: number, target: string, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, meanwhile } = asked;
  const lines = Object.entries({ host: `127.0.0.1:${port}`, connection: 'close', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n`),
    );
    socket.on('data', (chunk) => {
      if (chunks.push(chunk) === 1) meanwhile?.();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(parseAnswer(Buffer.concat(chunks), method)));
  });
}

function parseAnswer(bytes: Buffer, method: string): Answer {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => splitHeader(line)));
  const body = bytes.subarray(end + 4);
  const promised = method === 'HEAD' ? 0 : Number(headers['content-length'] ?? body.length);
  const status = Number(first.split(' ')[1]);
  return { status, headers: stable(headers), body: body.toString(), isComplete: body.length === promised };
}

function splitHeader(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}

function stable(headers: Record<string, string>): Record<string, string> {
  const { date: _date, connection: _connection, ...rest } = headers;
  return rest;
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Lists the files below a folder that a process has open. */
export function openFilesBelow(folder: string, pid: number | 'self' = 'self'): string[] {
  const real = realpathSync(folder);
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return target.startsWith(`${real}/`) ? [target] : [];
    } catch {
      // The descriptor of the listing itself is closed by now.
      return [];
    }
  });
}

export const onLinuxOnly: string | undefined =
  process.platform === 'linux' ? undefined : 'only Linux shows descriptors in /proc';
