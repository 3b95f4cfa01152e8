type ConnectionState = 'disconnected' | 'connecting' | 'connected' | 'error';

export interface SupervisionRules {
  /** Delay before each attempt after a loss; there are as many attempts as delays. */
  readonly backOffMs: readonly number[];
  /** A server that has run for so long counts as back. */
  readonly settledAfterMs: number;
  readonly probeEveryMs: number;
  /** A probe unanswered for so long, and nothing else heard, is a loss. */
  readonly silenceMs: number;
  /** After so long no answer to a probe is waited for any more. */
  readonly probeLimitMs: number;
  /** Pause between attempts to reach a server that was disabled because of the network. */
  readonly reachEveryMs: number;
}

export const DEFAULT_RULES: SupervisionRules = {
  backOffMs: [1000, 5000, 15_000],
  settledAfterMs: 30_000,
  probeEveryMs: 30_000,
  silenceMs: 5000,
  probeLimitMs: 10_000,
  reachEveryMs: 300_000,
};

/** State of one server. Immutable: `nextHealth` returns a new one. */
export interface Health {
  readonly enabled: boolean;
  /** Disabled by the rule, not by a person. */
  readonly autoDisabled: boolean;
  readonly autoDisabledAt?: number | undefined;
  readonly connectionState: ConnectionState;
  /** Attempts in a row that have failed. */
  readonly failureCount: number;
  /** True from a loss until the server has run for `settledAfterMs`. */
  readonly isRetrying: boolean;
  readonly nextRetryAt?: number | undefined;
  /**
   * True where an attempt of this row failed because of the network. Such a row disables the server only until it is
   * reached again; three failures that are all the server's own disable it for good.
   */
  readonly wasUnreachable: boolean;
  /** When it was last connected, in milliseconds since 1970; kept after a loss and over restarts of the gateway. */
  readonly lastConnectedAt?: number | undefined;
  readonly lastPingAt?: number | undefined;
  readonly pingLatency?: number | undefined;
  /** Why it was lost the last time. */
  readonly lastError?: string | undefined;
}

/** An event that may change the health of a server. */
export type HealthEvent =
  | { readonly type: 'connecting' }
  | { readonly type: 'connected' }
  /** The server has run for `settledAfterMs`. */
  | { readonly type: 'settled' }
  | { readonly type: 'pinged'; readonly latency: number }
  /** The server could not be started or reached, or was lost. `isUnreachable`: no connection to its address was made. */
  | { readonly type: 'lost'; readonly reason: string; readonly isUnreachable?: boolean }
  | { readonly type: 'enabled' }
  | { readonly type: 'disabled' }
  /** The server was stopped on purpose, for good or for now. */
  | { readonly type: 'stopped' };

export interface Moment {
  readonly at: number;
  readonly rules: SupervisionRules;
}

export const NEW_SERVER: Health = {
  enabled: true,
  autoDisabled: false,
  connectionState: 'disconnected',
  failureCount: 0,
  isRetrying: false,
  wasUnreachable: false,
};

/** Returns true for a server that was disabled because of the network and is tried again. */
export function isAwaited({ enabled, autoDisabled, wasUnreachable }: Health): boolean {
  return !enabled && autoDisabled && wasUnreachable;
}

/** Returns the health after an event; the same object where nothing changes. */
export function nextHealth(health: Health, event: HealthEvent, moment: Moment): Health {
  const { enabled, connectionState } = health;
  switch (event.type) {
    case 'connecting':
      if (!enabled && !isAwaited(health)) return health;
      if (connectionState === 'connecting' || connectionState === 'connected') return health;
      return { ...health, connectionState: 'connecting', nextRetryAt: undefined };
    case 'connected':
      if (connectionState !== 'connecting') return health;
      return { ...reached(health), connectionState: 'connected', lastConnectedAt: moment.at };
    case 'settled':
      if (connectionState !== 'connected' || !health.isRetrying) return health;
      return { ...health, ...NO_TROUBLE };
    case 'pinged':
      if (connectionState !== 'connected') return health;
      return { ...health, lastPingAt: moment.at, pingLatency: event.latency };
    case 'lost':
      return lost(health, event, moment);
    case 'enabled':
      return switchedOn(health);
    case 'disabled':
      if (!enabled && !health.autoDisabled) return health;
      return { ...health, ...NO_TROUBLE, ...BY_HAND, enabled: false, connectionState: 'disconnected' };
    case 'stopped':
      if (!enabled || connectionState === 'disconnected') return health;
      return { ...health, ...NO_TROUBLE, connectionState: 'disconnected' };
  }
}

const NO_TROUBLE = {
  failureCount: 0,
  isRetrying: false,
  nextRetryAt: undefined,
  wasUnreachable: false,
} as const;
const BY_HAND = { autoDisabled: false, autoDisabledAt: undefined } as const;

type Loss = Extract<HealthEvent, { type: 'lost' }>;

/**
 * Plans the next attempt or disables the server. The first loss does not count as a failed attempt; a start that does not
 * last does.
 */
function lost(health: Health, { reason: lastError, isUnreachable = false }: Loss, moment: Moment): Health {
  const { at, rules } = moment;
  if (health.connectionState !== 'connecting' && health.connectionState !== 'connected') return health;
  const nextReachAt = at + rules.reachEveryMs;
  if (!health.enabled && isUnreachable)
    return { ...health, connectionState: 'error', lastError, nextRetryAt: nextReachAt };
  const before = reached(health);
  const failureCount = before.isRetrying ? before.failureCount + 1 : before.failureCount;
  const wasUnreachable = before.wasUnreachable || (before.isRetrying && isUnreachable);
  const wait = rules.backOffMs[failureCount];
  const after = { ...before, connectionState: 'error', failureCount, wasUnreachable, lastError } as const;
  if (wait !== undefined) return { ...after, isRetrying: true, nextRetryAt: at + wait };
  const nextRetryAt = wasUnreachable ? nextReachAt : undefined;
  return { ...after, isRetrying: false, nextRetryAt, enabled: false, autoDisabled: true, autoDisabledAt: at };
}

/** Enables a server that was disabled because of the network, now that a connection to it was made. */
function reached(health: Health): Health {
  return health.enabled ? health : switchedOn(health);
}

/** Enables a server and resets its failures. */
function switchedOn(health: Health): Health {
  const { enabled, autoDisabled, failureCount, isRetrying } = health;
  if (enabled && !autoDisabled && failureCount === 0 && !isRetrying) return health;
  return {
    ...health,
    ...NO_TROUBLE,
    ...BY_HAND,
    enabled: true,
    // One that waited for its next attempt waits no more.
    connectionState: health.connectionState === 'error' ? 'disconnected' : health.connectionState,
  };
}

/** The health of one server, as it is told to others. */
export interface ServerHealthStatus {
  readonly serverId: string;
  readonly connectionState: ConnectionState;
  /** When it last answered a probe, and after how many milliseconds. */
  readonly lastPingAt?: number;
  readonly pingLatency?: number;
  /** The loss and the attempts that failed after it. */
  readonly consecutiveFailures: number;
  readonly retryState: {
    readonly isRetrying: boolean;
    /** Number of failed attempts. */
    readonly currentAttempt: number;
    readonly nextRetryAt?: number;
    readonly backoffIntervals: number[];
  };
  readonly autoDisabledAt?: number;
}

export function healthStatus(serverId: string, health: Health, rules: SupervisionRules): ServerHealthStatus {
  const { connectionState, failureCount, isRetrying } = health;
  const { lastPingAt, pingLatency, nextRetryAt, autoDisabledAt } = health;
  return {
    serverId,
    connectionState,
    ...(lastPingAt !== undefined && { lastPingAt }),
    ...(pingLatency !== undefined && { pingLatency }),
    consecutiveFailures: isRetrying ? failureCount + 1 : failureCount,
    retryState: {
      isRetrying: isRetrying || isAwaited(health),
      currentAttempt: failureCount,
      ...(nextRetryAt !== undefined && { nextRetryAt }),
      backoffIntervals: [...rules.backOffMs],
    },
    ...(autoDisabledAt !== undefined && { autoDisabledAt }),
  };
}
