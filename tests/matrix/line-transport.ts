// A process on stdio as a transport of the SDK that keeps the bytes: what is not JavaScript's to hold can be compared.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { GONE_WITHIN_MS, isSettledWithin, type Command } from '../support/harness.ts';

const NEWLINE = 0x0a;

export class LineTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  stderr = '';
  readonly #command: Omit<Command, 'cwd'>;
  readonly #waiting = new Map<string, (line: string) => void>();
  #child: ChildProcessWithoutNullStreams | undefined;
  #rest: Buffer[] = [];

  constructor(command: Omit<Command, 'cwd'>) {
    this.#command = command;
  }

  start(): Promise<void> {
    const { command, args, env } = this.#command;
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk: Buffer) => this.#cut(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    child.stdin.on('error', () => {});
    child.on('close', () => this.onclose?.());
    this.#child = child;
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#write(JSON.stringify(message));
    return Promise.resolve();
  }

  /** Sends a request as it is, past the SDK, and resolves with the line that answers it. */
  raw(id: string, line: string): Promise<string> {
    this.#write(line);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async close(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin.end();
    if (await isSettledWithin(GONE_WITHIN_MS, exit)) return;
    this.#child.kill('SIGKILL');
    throw new Error(
      `the process did not end within ${GONE_WITHIN_MS} ms\nstderr:\n${this.stderr.slice(-3000)}`,
    );
  }

  #write(line: string): void {
    this.#child?.stdin.write(`${line}\n`);
  }

  #cut(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString('utf8');
      this.#rest = [];
      start = end + 1;
      this.#receive(line);
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  #receive(line: string): void {
    const message = JSON.parse(line) as JSONRPCMessage & { id?: string };
    const take = 'method' in message ? undefined : this.#waiting.get(message.id ?? '');
    if (take === undefined) this.onmessage?.(message);
    else take(line);
  }
}
