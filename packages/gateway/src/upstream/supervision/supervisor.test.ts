// One supervised server, with a clock that the test moves.
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { Timers } from '../../time/schedule.ts';
import type { UpstreamServer } from '../server.ts';
import { DEFAULT_RULES, NEW_SERVER } from './health.ts';
import { Supervisor, type ServerEvent } from './supervisor.ts';

/** A clock and its alarms. */
class Clock implements Timers {
  #now = 0;
  #alarms: { at: number; action: () => void }[] = [];

  get pending(): number {
    return this.#alarms.length;
  }

  now(): number {
    return this.#now;
  }

  later(ms: number, action: () => void): () => void {
    const alarm = { at: this.#now + ms, action };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  /** Advances the clock; alarms on the way go off at their time. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settle();
      const [next] = this.#alarms.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#now = next.at;
      this.#alarms = this.#alarms.filter((alarm) => alarm !== next);
      next.action();
    }
    this.#now = until;
    await settle();
  }
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A server that the test controls. */
class Puppet {
  readonly serverKey = 's';
  status = 'initializing';
  heard = 0;
  isExcused = false;
  asked = 0;
  isInUse = false;
  readonly conversation = this;
  readonly usage = this;
  readonly isUnreachable: boolean;
  /** Outcome of a probe. */
  answers: 'at once' | 'never' | 'with an error' = 'at once';
  probes = 0;
  givenUp = 0;
  stopped = 0;
  readonly #stage: Stage;
  readonly #starts: boolean;
  #hurry = (): void => {};
  readonly #isRetired = new Promise<void>((resolve) => (this.#hurry = resolve));

  constructor(stage: Stage, starts: boolean) {
    this.#stage = stage;
    this.#starts = starts;
    this.isUnreachable = stage.isUnreachable;
  }

  async start(): Promise<void> {
    await Promise.race([this.#stage.curtain, this.#isRetired]);
    if (this.status === 'stopped') throw new Error('it was stopped while it started');
    if (this.#starts) this.status = 'running';
    else {
      this.status = 'failed';
      throw new Error('it would not start');
    }
  }

  retire(): { stop(): Promise<void> } {
    if (this.status !== 'failed') this.status = 'stopped';
    this.#hurry();
    return {
      stop: async () => {
        await settle();
        this.stopped++;
      },
    };
  }

  ask(answered: () => void, failed: (reason: string) => void): () => void {
    this.probes++;
    if (this.answers === 'at once') {
      this.heard++;
      void Promise.resolve().then(answered);
    } else if (this.answers === 'with an error') void Promise.resolve().then(() => failed('refused'));
    return () => void this.givenUp++;
  }

  giveUpOn(reason: string): void {
    if (this.status === 'running') this.dies(reason);
  }

  dies(reason = 'it died'): void {
    this.status = 'failed';
    this.#stage.supervisor.lost(this as unknown as UpstreamServer, reason);
  }
}

/** One puppet after the other, as the supervisor starts them. */
class Stage {
  readonly clock = new Clock();
  readonly puppets: Puppet[] = [];
  readonly events: ServerEvent[] = [];
  readonly said: string[] = [];
  readonly supervisor: Supervisor;
  startsNext = true;
  /** True if the next start fails because of the network. */
  isUnreachable = false;
  /** Undefined for a server that is not lazy. */
  idleAfterMs: number | undefined;
  /** A start takes until this has happened. */
  curtain: Promise<void> = Promise.resolve();
  ready = 0;
  gone = 0;
  ended = 0;

  constructor() {
    const note = (text: string): void => void this.said.push(text);
    this.supervisor = new Supervisor({
      commandName: 'weir',
      timers: this.clock,
      rules: DEFAULT_RULES,
      log: { info: note, warn: note, error: note },
      create: () => this.#enter(),
      idleAfterMs: () => this.idleAfterMs,
      ready: () => void this.ready++,
      gone: () => void this.gone++,
      endAll: () => void this.ended++,
      skipped: () => {},
      healthChanged: (event) => void this.events.push(event),
    });
  }

  /** Starts the server for the first time, as the fleet does. */
  async open(): Promise<Puppet> {
    const child = this.#enter();
    this.supervisor.adopt(child, NEW_SERVER);
    this.supervisor.begin();
    const start = child.start();
    this.supervisor.starting(child, start);
    await start;
    this.supervisor.connected(child);
    return this.last;
  }

  get last(): Puppet {
    return this.puppets.at(-1) as Puppet;
  }

  get state(): string | undefined {
    return this.supervisor.statusOf('s')?.connectionState;
  }

  #enter(): UpstreamServer {
    const puppet = new Puppet(this, this.startsNext);
    this.puppets.push(puppet);
    return puppet as unknown as UpstreamServer;
  }
}

describe('a lost server', () => {
  verifies('HEALTH-2', 'a lost server is tried after 1, 5 and 15 s, then disabled for good', async () => {
    const stage = new Stage();
    await stage.open();
    stage.startsNext = false;
    stage.last.dies();
    const starts: number[] = [];
    for (let second = 1; second <= 24 * 60 * 60; second += second < 60 ? 1 : 3600) {
      const before = stage.puppets.length;
      await stage.clock.pass(second < 60 ? 1000 : 3_600_000);
      if (stage.puppets.length > before) starts.push(second);
    }
    expect(starts).toEqual([1, 6, 21]);
    expect(stage.supervisor.healthOf('s')).toMatchObject({
      enabled: false,
      autoDisabled: true,
      autoDisabledAt: 21_000,
    });
    expect(stage.events.map(({ type }) => type)).toEqual([
      'server-connecting',
      'server-connected',
      'server-lost',
      'server-connecting',
      'server-lost',
      'server-connecting',
      'server-lost',
      'server-connecting',
      'server-auto-disabled',
    ]);
    expect(stage.said.at(-1)).toContain('Enable it with "weir enable s", or change its entry');
    expect(stage.clock.pending).toBe(0);
  });

  verifies('HEALTH-2', 'an unreachable server is tried every 5 minutes until it is reached', async () => {
    const stage = new Stage();
    await stage.open();
    Object.assign(stage, { startsNext: false, isUnreachable: true });
    stage.last.dies();
    const starts: number[] = [];
    for (let second = 1; second <= 1000; second++) {
      const before = stage.puppets.length;
      await stage.clock.pass(1000);
      if (stage.puppets.length > before) starts.push(second);
    }
    expect(starts).toEqual([1, 6, 21, 321, 621, 921]);
    expect(stage.events.filter(({ type }) => type === 'server-auto-disabled')).toHaveLength(1);
    expect(stage.supervisor.retryHint('s')).toBe(
      'it is unreachable, and Weir tries again in 4 min; "weir enable s" tries at once',
    );
    expect(stage.said.at(-1)).toBe(
      'Server \'s\' is unreachable and disabled: 3 attempts in a row failed. Weir tries again every 5 min; "weir enable s" tries at once.',
    );
    Object.assign(stage, { startsNext: true, isUnreachable: false });
    await stage.clock.pass(300_000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({
      enabled: true,
      autoDisabled: false,
      failureCount: 0,
    });
    expect(stage.said.at(-1)).toBe("Server 's' is reachable again and enabled");
  });

  verifies('HEALTH-2', 'a server that is reached again and fails gets three more attempts', async () => {
    const stage = new Stage();
    await stage.open();
    Object.assign(stage, { startsNext: false, isUnreachable: true });
    stage.last.dies();
    await stage.clock.pass(21_000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: false });
    stage.isUnreachable = false;
    await stage.clock.pass(300_000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: true, failureCount: 0 });
    await stage.clock.pass(21_000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: false, autoDisabled: true });
    expect(stage.clock.pending).toBe(0);
  });

  verifies('HEALTH-2', 'an unreachable server is enabled or disabled by command as any other', async () => {
    const stage = new Stage();
    await stage.open();
    Object.assign(stage, { startsNext: false, isUnreachable: true });
    stage.last.dies();
    await stage.clock.pass(21_000);
    await stage.supervisor.enable('s');
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: true, failureCount: 0 });
    await stage.clock.pass(21_000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: false, autoDisabled: true });
    await stage.supervisor.disable('s');
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: false, autoDisabled: false });
    expect(stage.clock.pending).toBe(0);
  });

  verifies('HEALTH-2', 'a server that comes back counts as back after 30 s, not before', async () => {
    const stage = new Stage();
    await stage.open();
    for (const [failureCount, wait] of [1000, 5000, 15_000].entries()) {
      stage.last.dies();
      await stage.clock.pass(wait);
      expect(stage.state).toBe('connected');
      await stage.clock.pass(29_999);
      expect(stage.supervisor.healthOf('s')).toMatchObject({ failureCount, isRetrying: true });
    }
    await stage.clock.pass(1);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ failureCount: 0, isRetrying: false });
    stage.last.dies();
    expect(stage.supervisor.statusOf('s')?.retryState.nextRetryAt).toBe(stage.clock.now() + 1000);
  });

  verifies('HEALTH-2', 'a server that dies every 31 s all day is restarted 1 s after each loss', async () => {
    const stage = new Stage();
    await stage.open();
    const lifeMs = 31_000;
    const day = 24 * 60 * 60 * 1000;
    const starts: number[] = [];
    while (stage.clock.now() < day) {
      await stage.clock.pass(lifeMs);
      stage.last.dies();
      const known = stage.puppets.length;
      while (stage.puppets.length === known) await stage.clock.pass(100);
      starts.push(stage.clock.now());
    }
    const pauses = starts.slice(1).map((at, i) => at - (starts[i] as number));
    expect(Math.min(...pauses)).toBe(lifeMs + 1000);
    expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: true });
  });

  verifies('HEALTH-2', 'retryHint says when a lost server is tried next', async () => {
    const stage = new Stage();
    await stage.open();
    expect(stage.supervisor.retryHint('s')).toBeUndefined();
    stage.last.dies();
    await stage.clock.pass(600);
    expect(stage.supervisor.retryHint('s')).toBe('it is tried again in 0.4 s');
    await stage.supervisor.disable('s');
    expect(stage.supervisor.retryHint('s')).toContain('enable it with "weir enable s"');
  });

  test('a lost server is not started while its last process still runs', async () => {
    const stage = new Stage();
    const first = await stage.open();
    let end = (): void => {};
    first.retire = () => ({ stop: () => new Promise((resolve) => (end = resolve)) });
    first.dies();
    await stage.clock.pass(3000);
    expect([stage.puppets.length, stage.state]).toEqual([1, 'connecting']);
    end();
    await stage.clock.pass(0);
    expect([stage.puppets.length, stage.state]).toEqual([2, 'connected']);
  });
});

describe('a connected server', () => {
  verifies('HEALTH-1', 'a connected server is probed every 30 s', async () => {
    const stage = new Stage();
    const server = await stage.open();
    await stage.clock.pass(29_999);
    expect(server.probes).toBe(0);
    await stage.clock.pass(90_001);
    expect(server.probes).toBe(4);
    expect(stage.supervisor.statusOf('s')).toMatchObject({ lastPingAt: 120_000, pingLatency: 0 });
  });

  verifies(
    ['HEALTH-1', 'HEALTH-2'],
    'a connected server that does not answer a probe within 5 s is lost',
    async () => {
      const stage = new Stage();
      const server = await stage.open();
      server.answers = 'never';
      await stage.clock.pass(34_999);
      expect(stage.state).toBe('connected');
      await stage.clock.pass(1);
      expect(stage.state).toBe('error');
      expect(stage.supervisor.healthOf('s')?.lastError).toBe('did not answer a probe within 5 s');
      expect([server.stopped, server.givenUp]).toEqual([1, 1]);
      await stage.clock.pass(1000);
      expect(stage.puppets).toHaveLength(2);
    },
  );

  verifies('HEALTH-2', 'a server that sends other messages during a probe is not lost', async () => {
    const stage = new Stage();
    const server = await stage.open();
    server.answers = 'never';
    await stage.clock.pass(31_000);
    server.heard++;
    await stage.clock.pass(5000);
    server.heard++;
    await stage.clock.pass(4000);
    expect(stage.state).toBe('connected');
    expect(server.givenUp).toBe(1);
    await stage.clock.pass(30_000);
    expect(server.probes).toBe(2);
  });

  verifies(
    'HEALTH-2',
    'a server that falls silent during a probe is lost when the probe times out',
    async () => {
      const stage = new Stage();
      const server = await stage.open();
      server.answers = 'never';
      await stage.clock.pass(31_000);
      server.heard++;
      await stage.clock.pass(8999);
      expect(stage.state).toBe('connected');
      await stage.clock.pass(1);
      expect(stage.state).toBe('error');
    },
  );

  verifies('HEALTH-1', 'a server that works on a call may be silent during the call', async () => {
    const stage = new Stage();
    const server = await stage.open();
    server.answers = 'never';
    server.isExcused = true;
    await stage.clock.pass(200_000);
    expect(stage.state).toBe('connected');
    server.isExcused = false;
    await stage.clock.pass(40_000);
    expect(server.status).toBe('failed');
    expect(stage.puppets).toHaveLength(2);
  });

  verifies('HEALTH-2', 'a server whose probe fails is lost at once', async () => {
    const stage = new Stage();
    const server = await stage.open();
    server.answers = 'with an error';
    await stage.clock.pass(30_000);
    expect(stage.supervisor.healthOf('s')?.lastError).toBe('refused');
  });
});

describe('the commands of the supervisor', () => {
  verifies(
    ['HEALTH-2', 'HEALTH-3'],
    'enabling an automatically disabled server resets its failures',
    async () => {
      const stage = new Stage();
      await stage.open();
      stage.startsNext = false;
      stage.last.dies();
      await stage.clock.pass(60_000);
      stage.startsNext = true;
      await stage.supervisor.enable('s');
      expect(stage.supervisor.healthOf('s')).toMatchObject({
        enabled: true,
        autoDisabled: false,
        failureCount: 0,
        connectionState: 'connected',
      });
      expect(stage.ready).toBe(1);
    },
  );

  verifies('HEALTH-3', 'a disabled server stays stopped, and an enabled server is started', async () => {
    const stage = new Stage();
    const server = await stage.open();
    await stage.supervisor.disable('s');
    await stage.clock.pass(3_600_000);
    expect([server.stopped, stage.gone, stage.puppets.length]).toEqual([1, 1, 1]);
    expect(stage.clock.pending).toBe(0);
    await expect(stage.supervisor.restart('s')).rejects.toThrow("Server 's' is disabled");
    await stage.supervisor.enable('s');
    await stage.supervisor.enable('s');
    expect([stage.state, stage.puppets.length]).toEqual(['connected', 2]);
  });

  verifies('HEALTH-3', 'a server that is disabled during its start is not started', async () => {
    const stage = new Stage();
    await stage.open();
    stage.last.dies();
    let rise = (): void => {};
    stage.curtain = new Promise((resolve) => (rise = resolve));
    await stage.clock.pass(1000);
    expect([stage.puppets.length, stage.state]).toEqual([2, 'connecting']);
    await stage.supervisor.disable('s');
    rise();
    await stage.clock.pass(60_000);
    expect(stage.state).toBe('disconnected');
    expect(stage.ready).toBe(0);
  });

  for (const how of ['restarted', 'disabled and enabled'])
    verifies('HEALTH-3', `a server that is ${how} during its start runs in the end`, async () => {
      const stage = new Stage();
      await stage.open();
      stage.last.dies();
      stage.curtain = new Promise(() => {});
      await stage.clock.pass(1000);
      expect([stage.puppets.length, stage.state]).toEqual([2, 'connecting']);
      stage.curtain = Promise.resolve();
      if (how === 'restarted') await stage.supervisor.restart('s');
      else {
        void stage.supervisor.disable('s');
        await stage.supervisor.enable('s');
      }
      expect([stage.state, stage.puppets.length, stage.ready]).toEqual(['connected', 3, 1]);
      expect(stage.supervisor.healthOf('s')).toMatchObject({ failureCount: 0, isRetrying: false });
    });

  test('enabling a server during its start waits for the start', async () => {
    const stage = new Stage();
    await stage.open();
    stage.last.dies();
    let rise = (): void => {};
    stage.curtain = new Promise((resolve) => (rise = resolve));
    await stage.clock.pass(1000);
    const enabled = stage.supervisor.enable('s').then(() => stage.state);
    rise();
    expect(await enabled).toBe('connected');
  });

  verifies(
    'HEALTH-3',
    'a restart or disable ends the dedicated instances of a server even if it does not run',
    async () => {
      const stage = new Stage();
      stage.idleAfterMs = 1000;
      await stage.open();
      await stage.clock.pass(2000);
      expect([stage.state, stage.ended]).toEqual(['disconnected', 0]);
      await stage.supervisor.restart('s');
      expect(stage.ended).toBe(1);
      stage.last.dies();
      await stage.supervisor.disable('s');
      expect(stage.ended).toBe(2);
    },
  );

  verifies('HEALTH-3', 'a restart replaces the server and its probes', async () => {
    const stage = new Stage();
    const server = await stage.open();
    await stage.supervisor.restart('s');
    expect([server.stopped, stage.gone, stage.ready, stage.puppets.length]).toEqual([1, 1, 1, 2]);
    await stage.clock.pass(30_000);
    expect([server.probes, stage.last.probes]).toEqual([0, 1]);
  });

  test('restart rejects an unknown server by name', async () => {
    await expect(new Stage().supervisor.restart('x')).rejects.toThrow("no server 'x'");
  });
});

verifies('HEALTH-1', 'a stopped supervisor has no pending timers', async () => {
  const stage = new Stage();
  await stage.open();
  stage.last.dies();
  stage.supervisor.stop();
  expect(stage.clock.pending).toBe(0);
  await stage.clock.pass(3_600_000);
  expect(stage.puppets).toHaveLength(1);
});

describe('the end of the gateway', () => {
  verifies('HEALTH-2', 'a pending start is dropped when the gateway ends', async () => {
    const stage = new Stage();
    const first = await stage.open();
    let end = (): void => {};
    first.retire = () => ({ stop: () => new Promise((resolve) => (end = resolve)) });
    first.dies();
    await stage.clock.pass(1000);
    stage.supervisor.stop();
    end();
    await stage.clock.pass(1000);
    expect(stage.puppets).toHaveLength(1);
  });

  verifies('HEALTH-3', "a start that the gateway's end interrupts does not count as a failure", async () => {
    const stage = new Stage();
    await stage.open();
    stage.last.dies();
    stage.startsNext = false;
    let rise = (): void => {};
    stage.curtain = new Promise((resolve) => (rise = resolve));
    await stage.clock.pass(1000);
    expect([stage.puppets.length, stage.state]).toEqual([2, 'connecting']);
    stage.supervisor.stop();
    rise();
    await stage.clock.pass(1000);
    expect(stage.last.status).toBe('failed');
    expect(stage.supervisor.healthOf('s')).toMatchObject({ failureCount: 0 });
    expect(stage.said).toEqual(['it died', "Server 's' is tried again in 1 s (attempt 1 of 3)"]);
  });
});

describe('an unused server', () => {
  const IDLE_MS = 600_000;

  async function lazy(): Promise<Stage> {
    const stage = new Stage();
    stage.idleAfterMs = IDLE_MS;
    await stage.open();
    return stage;
  }

  verifies(
    'AGG-REG-1',
    'an unused lazy server is stopped after ten minutes, without a failure, until it is needed',
    async () => {
      const stage = await lazy();
      await stage.clock.pass(IDLE_MS - 1);
      expect(stage.state).toBe('connected');
      await stage.clock.pass(1);
      expect(stage.state).toBe('disconnected');
      expect([stage.gone, stage.last.stopped, stage.puppets.length]).toEqual([1, 1, 1]);
      await stage.clock.pass(24 * IDLE_MS);
      expect(stage.puppets).toHaveLength(1);
      expect(stage.clock.pending).toBe(0);
      expect(stage.supervisor.healthOf('s')).toMatchObject({ enabled: true, failureCount: 0 });
      await stage.supervisor.start('s');
      expect(stage.state).toBe('connected');
      await stage.clock.pass(IDLE_MS);
      expect(stage.state).toBe('disconnected');
    },
  );

  verifies('AGG-REG-1', 'a lazy server in use, or used within ten minutes, is not stopped', async () => {
    const stage = await lazy();
    stage.last.isInUse = true;
    await stage.clock.pass(5 * IDLE_MS);
    expect(stage.state).toBe('connected');
    stage.last.isInUse = false;
    for (let times = 0; times < 5; times++) {
      stage.last.asked++;
      await stage.clock.pass(IDLE_MS - 1);
      expect(stage.state).toBe('connected');
    }
    await stage.clock.pass(IDLE_MS);
    expect(stage.state).toBe('disconnected');
  });

  test('an unused server that is not lazy is never stopped', async () => {
    const stage = new Stage();
    await stage.open();
    await stage.clock.pass(10 * IDLE_MS);
    expect(stage.state).toBe('connected');
  });

  verifies('AGG-CHILD-1', 'a lazy server that ten calls need at once is started once', async () => {
    const stage = await lazy();
    await stage.clock.pass(IDLE_MS);
    let open = (): void => {};
    stage.curtain = new Promise((resolve) => (open = resolve));
    const needed = Promise.all(Array.from({ length: 10 }, () => stage.supervisor.start('s')));
    await settle();
    open();
    await needed;
    expect(stage.puppets).toHaveLength(2);
    expect(stage.state).toBe('connected');
  });
});

describe('a server removed from the config', () => {
  verifies('HEALTH-3', 'a server removed from the config is neither restarted nor reported', async () => {
    const stage = new Stage();
    await stage.open();
    const before = stage.events.length;
    await stage.supervisor.disown('s');
    stage.last.dies();
    await stage.clock.pass(100_000);
    expect(stage.puppets).toHaveLength(1);
    expect(stage.events).toHaveLength(before);
    expect(stage.supervisor.statusOf('s')).toBeUndefined();
    expect(stage.clock.pending).toBe(0);
  });

  verifies(
    'HEALTH-3',
    'a server that returns to the config starts once its last process has ended',
    async () => {
      const stage = new Stage();
      await stage.open();
      await stage.supervisor.disown('s');
      let leave = (): void => {};
      const left = new Promise<void>((resolve) => (leave = resolve));
      stage.supervisor.adopt(stage.last as unknown as UpstreamServer, NEW_SERVER, left);
      const started = stage.supervisor.start('s');
      await stage.clock.pass(60_000);
      expect([stage.puppets.length, stage.state]).toEqual([1, 'connecting']);
      leave();
      await started;
      expect([stage.puppets.length, stage.state]).toEqual([2, 'connected']);
    },
  );
});
