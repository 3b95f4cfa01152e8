import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import {
  DEFAULT_RULES,
  healthStatus,
  NEW_SERVER,
  nextHealth,
  type Health,
  type HealthEvent,
} from './health.ts';

const rules = DEFAULT_RULES;
const AT = 1_000_000;
const off = { connectionState: 'error', failureCount: 3, enabled: false, autoDisabled: true } as const;

/** Every state of a server, by its name in the table. */
const STATES: Readonly<Record<string, Health>> = {
  new: NEW_SERVER,
  starting: { ...NEW_SERVER, connectionState: 'connecting' },
  up: { ...NEW_SERVER, connectionState: 'connected' },
  'wait 1': { ...NEW_SERVER, connectionState: 'error', isRetrying: true, nextRetryAt: AT + 1000 },
  'try 1': { ...NEW_SERVER, connectionState: 'connecting', isRetrying: true },
  'up 1': { ...NEW_SERVER, connectionState: 'connected', isRetrying: true },
  'wait 2': { ...waiting(1), nextRetryAt: AT + 5000 },
  'try 2': { ...waiting(1), connectionState: 'connecting' },
  'up 2': { ...waiting(1), connectionState: 'connected' },
  'wait 3': { ...waiting(2), nextRetryAt: AT + 15_000 },
  'try 3': { ...waiting(2), connectionState: 'connecting' },
  'up 3': { ...waiting(2), connectionState: 'connected' },
  'auto-off': { ...NEW_SERVER, ...off, autoDisabledAt: AT },
  away: { ...NEW_SERVER, ...off, autoDisabledAt: AT, wasUnreachable: true, nextRetryAt: AT + 300_000 },
  reaching: {
    ...NEW_SERVER,
    ...off,
    autoDisabledAt: AT,
    wasUnreachable: true,
    connectionState: 'connecting',
  },
  off: { ...NEW_SERVER, enabled: false },
};

function waiting(failureCount: number): Health {
  return { ...NEW_SERVER, connectionState: 'error', isRetrying: true, failureCount };
}

const EVENTS: readonly HealthEvent[] = [
  { type: 'connecting' },
  { type: 'connected' },
  { type: 'settled' },
  { type: 'lost', reason: 'it went' },
  { type: 'enabled' },
  { type: 'disabled' },
  { type: 'stopped' },
];

/** Next state for each state and event; · keeps the state. */
const TABLE = `
            connecting  connected  settled  lost      enabled   disabled  stopped
new         starting    ·          ·        ·         ·         off       ·
starting    ·           up         ·        wait_1    ·         off       new
up          ·           ·          ·        wait_1    ·         off       new
wait_1      try_1       ·          ·        ·         new       off       new
try_1       ·           up_1       ·        wait_2    starting  off       new
up_1        ·           ·          up       wait_2    up        off       new
wait_2      try_2       ·          ·        ·         new       off       new
try_2       ·           up_2       ·        wait_3    starting  off       new
up_2        ·           ·          up       wait_3    up        off       new
wait_3      try_3       ·          ·        ·         new       off       new
try_3       ·           up_3       ·        auto-off  starting  off       new
up_3        ·           ·          up       auto-off  up        off       new
auto-off    ·           ·          ·        ·         new       off       ·
away        reaching    ·          ·        ·         new       off       ·
reaching    ·           up         ·        wait_1    starting  off       ·
off         ·           ·          ·        ·         new       ·         ·`;

const cells = readTable(TABLE);

function readTable(text: string): { from: string; event: string; to: string }[] {
  const [head = [], ...rows] = text
    .trimStart()
    .split('\n')
    .map((line) => line.trim().split(/\s+/u));
  return rows.flatMap(([from = '', ...row]) =>
    row.map((to, column) => ({
      from: from.replace('_', ' '),
      event: head[column] ?? '',
      to: (to === '·' ? from : to).replace('_', ' '),
    })),
  );
}

/** Parts of the state that the table covers, without times. */
function essence({ lastConnectedAt: _at, lastError: _error, ...health }: Health): Partial<Health> {
  return Object.fromEntries(Object.entries(health).filter(([, value]) => value !== undefined));
}

describe('the states of a server', () => {
  test('the table of health states has a cell for every state and event', () => {
    expect(cells).toHaveLength(Object.keys(STATES).length * EVENTS.length);
  });

  for (const { from, event: type, to } of cells) {
    verifies(
      ['HEALTH-1', 'HEALTH-2'],
      `the health of a server goes from "${from}" by ${type} to "${to}"`,
      () => {
        const before = STATES[from] as Health;
        const event = EVENTS.find((one) => one.type === type) as HealthEvent;
        const after = nextHealth(before, event, { at: AT, rules });
        expect(essence(after)).toEqual(essence(STATES[to] as Health));
        if (from === to) expect(after).toBe(before);
      },
    );
  }
});

verifies('HEALTH-1', 'an answered probe is recorded only while the server is connected', () => {
  const pinged = { type: 'pinged', latency: 12 } as const;
  for (const [name, health] of Object.entries(STATES)) {
    const { lastPingAt, pingLatency } = nextHealth(health, pinged, { at: AT, rules });
    const isUp = name.startsWith('up');
    expect({ name, lastPingAt, pingLatency }).toEqual({
      name,
      lastPingAt: isUp ? AT : undefined,
      pingLatency: isUp ? 12 : undefined,
    });
  }
});

/** The events of one server at these moments, in seconds. */
function live(...events: readonly [number, HealthEvent['type']][]): Health {
  return events.reduce((health, [seconds, type]) => {
    const event = EVENTS.find((one) => one.type === type) as HealthEvent;
    return nextHealth(health, event, { at: seconds * 1000, rules });
  }, NEW_SERVER);
}

verifies('HEALTH-2', 'a server that starts and dies each time is disabled at its third attempt', () => {
  const after = live(
    [0, 'connecting'],
    [1, 'connected'],
    [2, 'lost'],
    [3, 'connecting'],
    [4, 'connected'],
    [5, 'lost'],
    [10, 'connecting'],
    [11, 'connected'],
    [12, 'lost'],
    [27, 'connecting'],
    [28, 'connected'],
    [29, 'lost'],
  );
  expect(after).toMatchObject({
    enabled: false,
    autoDisabled: true,
    autoDisabledAt: 29_000,
    failureCount: 3,
  });
  expect(after.lastError).toBe('it went');
  expect(after.lastConnectedAt).toBe(28_000);
});

verifies('HEALTH-2', 'a server that runs for thirty seconds has its failure count reset', () => {
  const after = live(
    [0, 'connecting'],
    [1, 'lost'],
    [2, 'connecting'],
    [3, 'lost'],
    [8, 'connecting'],
    [9, 'connected'],
    [39, 'settled'],
    [50, 'lost'],
  );
  expect(after).toMatchObject({ failureCount: 0, isRetrying: true, nextRetryAt: 51_000 });
});

describe('an unreachable server', () => {
  /** Lets all attempts of a row fail, those named because of the network. */
  function row(...unreachable: readonly number[]): Health {
    let health = live([0, 'connecting'], [0, 'lost']);
    for (const [attempt, seconds] of [1, 6, 21].entries()) {
      const at = seconds * 1000;
      const isUnreachable = unreachable.includes(attempt);
      health = nextHealth(health, { type: 'connecting' }, { at, rules });
      health = nextHealth(health, { type: 'lost', reason: 'it went', isUnreachable }, { at, rules });
    }
    return health;
  }

  for (const unreachable of [[0], [1], [2], [0, 1, 2]])
    verifies(
      'HEALTH-2',
      `a server unreachable at attempts ${unreachable.join()} is tried again after 5 minutes`,
      () => {
        expect(row(...unreachable)).toMatchObject({
          enabled: false,
          autoDisabled: true,
          failureCount: 3,
          nextRetryAt: 21_000 + 5 * 60_000,
        });
      },
    );

  verifies(
    'HEALTH-2',
    'a server that was unreachable only before its first retry is disabled for good',
    () => {
      const lost = { type: 'lost', reason: 'it went', isUnreachable: true } as const;
      const first = nextHealth(live([0, 'connecting']), lost, { at: 0, rules });
      expect(first).toMatchObject({ wasUnreachable: false, failureCount: 0 });
      expect(row()).toMatchObject({ autoDisabled: true, nextRetryAt: undefined });
    },
  );

  verifies('HEALTH-2', 'an unreachable server is tried every 5 minutes and keeps its autoDisabledAt', () => {
    const at = AT + 300_000;
    const lost = { type: 'lost', reason: 'still away', isUnreachable: true } as const;
    const health = nextHealth(STATES['reaching'] as Health, lost, { at, rules });
    expect(health).toMatchObject({ ...STATES['away'], nextRetryAt: at + 300_000, lastError: 'still away' });
    expect(healthStatus('s', health, rules)).toMatchObject({
      autoDisabledAt: AT,
      retryState: { isRetrying: true, currentAttempt: 3, nextRetryAt: at + 300_000 },
    });
  });
});

verifies(['HEALTH-1', 'HEALTH-2'], 'healthStatus returns the public form of the health', () => {
  const told = (health: Health): unknown => healthStatus('s', health, rules);
  expect(told(NEW_SERVER)).toEqual({
    serverId: 's',
    connectionState: 'disconnected',
    consecutiveFailures: 0,
    retryState: { isRetrying: false, currentAttempt: 0, backoffIntervals: [1000, 5000, 15_000] },
  });
  expect(told({ ...(STATES['wait 3'] as Health), lastPingAt: 5, pingLatency: 2 })).toEqual({
    serverId: 's',
    connectionState: 'error',
    lastPingAt: 5,
    pingLatency: 2,
    consecutiveFailures: 3,
    retryState: {
      isRetrying: true,
      currentAttempt: 2,
      nextRetryAt: AT + 15_000,
      backoffIntervals: [1000, 5000, 15_000],
    },
  });
  expect(told(STATES['auto-off'] as Health)).toMatchObject({ consecutiveFailures: 3, autoDisabledAt: AT });
});
