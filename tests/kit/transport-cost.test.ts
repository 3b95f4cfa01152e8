// The cost of a call and of a session, beside the plain use of the SDK on the same machine at the same time.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { BOTH_TYPES, legacyCall, modernCall } from './transport-doors.ts';

const program = new URL('../fixtures/kit.mjs', import.meta.url).pathname;

interface Used {
  cpu: { user: number; system: number };
  rss: number;
}

interface Call {
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

/** Calls that do not count, because the engine compiles what they run. */
const WARM_UP = 1200;
const CALLS = 240;
const ROUNDS = 5;

class Measured implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start(mode: string): Promise<Measured> {
    const child = fork(program, [mode], { execArgv: ['--expose-gc'], env: {} });
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    return new Measured(child, url);
  }

  async used(what: 'cpu' | 'memory'): Promise<Used> {
    this.#child.send(what);
    return ((await once(this.#child, 'message')) as [Used])[0];
  }

  /** CPU microseconds of one call. */
  async costOf({ body, headers }: Call): Promise<number> {
    const before = await this.used('cpu');
    await this.repeat(CALLS, body, headers);
    const { cpu } = await this.used('cpu');
    return (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / CALLS;
  }

  async repeat(times: number, body: unknown, headers: Record<string, string> = {}): Promise<void> {
    for (let count = 0; count < times; count += 8)
      await Promise.all(Array.from({ length: 8 }, () => this.post(body, headers)));
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const json = { 'content-type': 'application/json', accept: BOTH_TYPES };
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, method: 'POST', headers: { ...json, ...headers } };
      const sent = request(this.#url, options, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(response.headers);
          else reject(new Error(`status ${response.statusCode}`));
        });
      });
      sent.on('error', reject).end(JSON.stringify(body));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#agent.destroy();
    this.#child.disconnect();
    await ended;
  }
}

const opening = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'cost', version: '1' } },
};

/** The cost of a call at one server beside another one, the median of rounds in which both take turns. */
async function ratio(ours: Measured, our: Call, theirs: Measured, their: Call): Promise<number> {
  await ours.repeat(WARM_UP, our.body, our.headers);
  await theirs.repeat(WARM_UP / 4, their.body, their.headers);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    ratios.push((await ours.costOf(our)) / (await theirs.costOf(their)));
  return ratios.sort((one, other) => one - other)[ROUNDS >> 1] ?? Number.NaN;
}

describe('costs', () => {
  verifies.slow('KIT-TRANSPORT-1', 'a call costs at most 0.55 of the CPU of a plain SDK server', async () => {
    await using ours = await Measured.start('--http');
    await using plain = await Measured.start('--plain-http');
    const [body, headers] = modernCall('tool-7', { text: 'hello' });
    const modern = { body, headers };
    expect(await ratio(ours, modern, plain, modern)).toBeLessThanOrEqual(0.55);
    const { 'mcp-session-id': id } = await ours.post(opening);
    const version = { 'mcp-protocol-version': '2025-11-25' };
    const legacy = { body: legacyCall('tool-7', { text: 'hello' }), headers: version };
    const inSession = { ...legacy, headers: { ...version, 'mcp-session-id': String(id) } };
    expect(await ratio(ours, inSession, plain, legacy)).toBeLessThanOrEqual(0.55);
  });

  verifies.slow('KIT-TRANSPORT-1', '1000 idle sessions of legacy clients cost at most 100 MB', async () => {
    await using ours = await Measured.start('--http');
    await ours.post(opening);
    const before = await ours.used('memory');
    await ours.repeat(1000, opening);
    const after = await ours.used('memory');
    expect((after.rss - before.rss) / 1024 / 1024).toBeLessThanOrEqual(100);
  });
});
