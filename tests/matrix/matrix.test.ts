// Client era × client transport × server era × server transport × feature: a test for each that can exist.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { commandFor, fixture, type Config, type Era } from '../support/harness.ts';
import { startServe, type ServeProcess } from '../support/http.ts';
import { verifies } from '../verifies.ts';
import { asking, features, type Cell } from './features.ts';
import { takeSeat, type Address, type Seat } from './seat.ts';

type Upstream = Cell['upstream'];

interface Place {
  readonly name: string;
  readonly client: Cell['client'];
  readonly isDirect: boolean;
  address(): Promise<Address>;
}

const UPSTREAMS: readonly Upstream[] = [
  { era: 'legacy', transport: 'stdio' },
  { era: 'legacy', transport: 'http' },
  { era: 'legacy', transport: 'sse' },
  { era: 'modern', transport: 'stdio' },
  { era: 'modern', transport: 'http' },
];
const ERAS: readonly Era[] = ['legacy', 'modern'];

describe.each(UPSTREAMS.map((upstream) => [nameOf(upstream), upstream] as const))('%s', (_, upstream) => {
  const column = new Column(upstream);
  afterAll(() => column.stop());

  for (const place of column.places()) {
    describe(place.name, () => {
      let seat: Seat;
      beforeAll(async () => {
        seat = await takeSeat(await place.address(), place.client.era);
      });
      afterAll(() => seat?.[Symbol.asyncDispose]());

      for (const [name, feature] of Object.entries(features)) {
        const cell = cellOf(place, upstream, name);
        verifies.skipIf(feature.absent?.(cell))(['AGG-CALL-3', 'ERA-1'], titleOf(place, upstream, name), () =>
          feature.prove({ ...cell, seat }),
        );
      }
      for (const [name, feature] of Object.entries(asking)) {
        const cell = cellOf(place, upstream, name);
        verifies.skipIf(feature.absent?.(cell))(['ERA-2', 'AGG-CALL-3'], titleOf(place, upstream, name), () =>
          feature.prove({ ...cell, seat }),
        );
      }
    });
  }
});

test.skip('a modern server on sse (HTTP+SSE was replaced in 2025-03-26, no later revision has it)');

function nameOf({ era, transport }: Upstream): string {
  return `a ${era} server on ${transport}`;
}

function titleOf({ name, client, isDirect }: Place, upstream: Upstream, feature: string): string {
  const road = isDirect ? 'directly' : name.split(',')[0];
  return `a ${client.era} client uses ${feature} of ${nameOf(upstream)} ${road}`;
}

function cellOf({ name, client, isDirect }: Place, upstream: Upstream, feature: string): Omit<Cell, 'seat'> {
  return { key: `${name}, ${feature}`, client, upstream, isDirect };
}

/** One server, reached directly, through a gateway on stdio for each client, and through one gateway on HTTP for all. */
class Column {
  readonly #upstream: Upstream;
  readonly #stops: (() => Promise<void>)[] = [];
  #config: Promise<Config> | undefined;
  #gateway: Promise<ServeProcess> | undefined;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  places(): Place[] {
    const { era, transport } = this.#upstream;
    const direct: Place = {
      name: `itself, for a ${era} client`,
      client: { era, transport },
      isDirect: true,
      address: () => this.#direct(),
    };
    return [
      direct,
      ...ERAS.map((from) => this.#through(from, 'stdio')),
      ...ERAS.map((from) => this.#through(from, 'http')),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  #through(era: Era, transport: 'stdio' | 'http'): Place {
    return {
      name: `through a gateway on ${transport}, for a ${era} client`,
      client: { era, transport },
      isDirect: false,
      address: () => (transport === 'stdio' ? this.#onStdio() : this.#onHttp()),
    };
  }

  async #direct(): Promise<Address> {
    const { transport } = this.#upstream;
    const entry = Object.values(
      (await this.#start()) as Record<string, { url?: string; args?: string[] }>,
    )[0];
    if (transport === 'stdio')
      return { command: { command: process.execPath, args: entry?.args ?? [], env: {} } };
    return { url: entry?.url ?? '', isSse: transport === 'sse' };
  }

  async #onStdio(): Promise<Address> {
    return { command: commandFor(await this.#start(), { args: ['--no-prefix'] }) };
  }

  async #onHttp(): Promise<Address> {
    this.#gateway ??= startServe(await this.#start(), { args: ['--no-prefix'] });
    const gateway = await this.#gateway;
    this.#stops.push(() => gateway[Symbol.asyncDispose]());
    return gateway;
  }

  #start(): Promise<Config> {
    this.#config ??= this.#startOnce();
    return this.#config;
  }

  async #startOnce(): Promise<Config> {
    const { era, transport } = this.#upstream;
    const entry = fixture('matrix', era, transport);
    if (transport === 'stdio') return { matrix: entry };
    const child = spawn(entry.command ?? '', entry.args ?? [], {
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    this.#stops.push(async () => void (child.kill(), await exit));
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { matrix: { url, ...(transport === 'sse' && { type: 'sse' }) } };
  }
}
