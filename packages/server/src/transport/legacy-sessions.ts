import { randomUUID } from 'node:crypto';
import { type AuthInfo, isInitializeRequest, type ServerNotifier } from '@modelcontextprotocol/server';
import type { HttpExchange } from './exchange.ts';
import { createLegacySession, type LegacySession } from './legacy-session.ts';
import { refuse, Refusals } from './refusals.ts';
import { type AnyServer, type CreateServer, lowLevel } from './server-factory.ts';

export interface SessionLimits {
  /** Sessions at a time; one more ends one without a stream, then the one idle for longest. 1000 by default. */
  readonly maxSessions?: number | undefined;
  /** Time after which an unused session ends; 30 minutes by default. */
  readonly sessionIdleMs?: number | undefined;
}

export interface LegacySessionsOptions extends SessionLimits {
  readonly createServer: CreateServer;
  readonly keepAliveMs: number;
  readonly now: () => number;
}

/** The sessions of clients of the eras before 2026-07-28. */
export interface LegacySessions {
  post(exchange: HttpExchange, body: unknown): Promise<void>;
  get(exchange: HttpExchange): void;
  remove(exchange: HttpExchange): Promise<void>;
  /** Tells the clients of all sessions of a change. */
  readonly notify: ServerNotifier;
  closeAll(): Promise<void>;
}

interface Entry {
  readonly session: LegacySession;
  readonly server: AnyServer;
  readonly principal: string;
  lastUsed: number;
}

const MOST_SESSIONS = 1000;
const IDLE_MS = 30 * 60_000;

/** Keeps sessions, least recently used first, within a number and a time of idleness. */
export function createLegacySessions(options: LegacySessionsOptions): LegacySessions {
  const { createServer, maxSessions = MOST_SESSIONS, sessionIdleMs = IDLE_MS, keepAliveMs, now } = options;
  const entries = new Map<string, Entry>();
  /** Principals of the sessions that are being opened. */
  const opening: string[] = [];
  let timers: NodeJS.Timeout[] = [];

  function find(exchange: HttpExchange): Entry | undefined {
    const entry = entries.get(exchange.header('mcp-session-id') ?? '');
    // A session belongs to the principal that opened it; another one is not told that there is such a session.
    if (entry === undefined || entry.principal !== principalOf(exchange.authInfo)) return undefined;
    entry.lastUsed = now();
    entries.delete(entry.session.id);
    entries.set(entry.session.id, entry);
    return entry;
  }

  function isIdle({ session }: Entry): boolean {
    return !session.isBusy();
  }

  async function end({ session, server }: Entry): Promise<void> {
    forget(session);
    await server.close().catch(() => undefined);
    await session.transport.close();
  }

  function forget({ id }: LegacySession): void {
    entries.delete(id);
    if (entries.size === 0) stopTimers();
  }

  /** Makes room for one more session of a principal; false where all are busy. */
  function makeRoom(principal: string): boolean {
    if (entries.size + opening.length < maxSessions) return true;
    const idle = candidates(principal);
    const entry = idle.find(({ session }) => !session.isConnected()) ?? idle[0];
    if (entry === undefined) return false;
    void end(entry);
    return true;
  }

  /** Returns the idle sessions of the principal that has more than half of all, so that none ends those of all others. */
  function candidates(principal: string): Entry[] {
    const idle = [...entries.values()].filter(isIdle);
    const idleOf = (owner: string | undefined): Entry[] => idle.filter((entry) => entry.principal === owner);
    const share = maxSessions / 2;
    const counts = countEach([
      ...[...entries.values()].map((entry) => entry.principal),
      ...opening,
      principal,
    ]);
    if ((counts.get(principal) ?? 0) > share) return idleOf(principal);
    const greedy = idleOf([...counts].find(([, count]) => count > share)?.[0]);
    return greedy.length > 0 ? greedy : idle;
  }

  async function open(exchange: HttpExchange, body: unknown): Promise<void> {
    const { authInfo, request } = exchange;
    const principal = principalOf(authInfo);
    if (!makeRoom(principal)) return refuse(exchange, Refusals.tooManySessions(), body);
    opening.push(principal);
    try {
      const context = {
        era: 'legacy' as const,
        requestInfo: request,
        ...(authInfo !== undefined && { authInfo }),
      };
      const server = await createServer(context);
      const session = createLegacySession(randomUUID());
      await server.connect(session.transport);
      const entry = { session, server, principal, lastUsed: now() };
      entries.set(session.id, entry);
      startTimers();
      forgetAtClose(entry);
      await session.post(exchange, body);
      if (!session.isInitialized()) await end(entry);
    } finally {
      opening.splice(opening.indexOf(principal), 1);
    }
  }

  /** A server may close itself. */
  function forgetAtClose({ session, server }: Entry): void {
    const { onclose } = lowLevel(server);
    lowLevel(server).onclose = () => {
      forget(session);
      onclose?.();
    };
  }

  function startTimers(): void {
    if (timers.length > 0) return;
    const beat = setInterval(
      () => {
        for (const { session } of entries.values()) session.beat();
      },
      Math.max(1, keepAliveMs),
    );
    const sweep = setInterval(endIdle, Math.max(1, Math.min(sessionIdleMs / 2, 60_000)));
    timers = [beat.unref(), sweep.unref()];
  }

  function stopTimers(): void {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  function endIdle(): void {
    const oldest = now() - sessionIdleMs;
    for (const entry of entries.values())
      if (entry.lastUsed <= oldest && isIdle(entry) && !entry.session.isConnected()) void end(entry);
  }

  const toAll = (
    send: (server: ReturnType<typeof lowLevel>) => Promise<void>,
    isTold = (_session: LegacySession): boolean => true,
  ): void => {
    for (const { session, server } of entries.values())
      // A server that lacks the capability has nothing to tell of.
      if (isTold(session)) send(lowLevel(server)).catch(() => undefined);
  };

  return {
    async post(exchange, body) {
      if (!accepts(exchange, ['application/json', 'text/event-stream']))
        return refuse(exchange, Refusals.notAcceptable('application/json and text/event-stream'), body);
      if (exchange.header('mcp-session-id') !== undefined) {
        const entry = find(exchange);
        return entry
          ? entry.session.post(exchange, body)
          : refuse(exchange, Refusals.sessionNotFound(), body);
      }
      return isInitializeRequest(body) ? open(exchange, body) : refuse(exchange, Refusals.noSession(), body);
    },
    get(exchange) {
      if (!accepts(exchange, ['text/event-stream']))
        return refuse(exchange, Refusals.notAcceptable('text/event-stream'));
      const entry = find(exchange);
      return entry ? entry.session.get(exchange) : refuse(exchange, Refusals.sessionNotFound());
    },
    async remove(exchange) {
      const entry = find(exchange);
      if (entry === undefined) return refuse(exchange, Refusals.sessionNotFound());
      await end(entry);
      exchange.answer(200);
    },
    notify: {
      toolsChanged: () => toAll((server) => server.sendToolListChanged()),
      promptsChanged: () => toAll((server) => server.sendPromptListChanged()),
      resourcesChanged: () => toAll((server) => server.sendResourceListChanged()),
      resourceUpdated: (uri) =>
        toAll(
          (server) => server.sendResourceUpdated({ uri }),
          (session) => session.isSubscribed(uri),
        ),
    },
    async closeAll() {
      await Promise.all([...entries.values()].map(end));
    },
  };
}

/** A client that names no types takes all of them. */
function accepts(exchange: HttpExchange, types: readonly string[]): boolean {
  const accept = exchange.header('accept');
  return accept === undefined || accept.includes('*/*') || types.every((type) => accept.includes(type));
}

function countEach(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Names whose session it is; the token itself changes whenever it is refreshed. */
function principalOf(authInfo: AuthInfo | undefined): string {
  if (authInfo === undefined) return '';
  const { sub } = (authInfo.extra ?? {}) as { sub?: unknown };
  return JSON.stringify([authInfo.clientId, sub ?? null]);
}
