// The promises of every transport, whatever carries its messages. A transport's own test file says how its server is started
// and ended; the server is tests/fixtures/transport.mjs each time.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServerConfig } from '../../packages/gateway/src/config/config.generated.ts';
import { silentLog } from '../../packages/gateway/src/log.ts';
import type { Connection } from '../../packages/gateway/src/upstream/connection.ts';
import { Chain } from '../../packages/gateway/src/upstream/gateway-chain.ts';
import { startGuard } from '../../packages/gateway/src/upstream/process/guard.ts';
import { createSlots } from '../../packages/gateway/src/upstream/process/start-slots.ts';
import { shakeHands, readResult } from '../../packages/gateway/src/upstream/start/negotiate.ts';
import { transportOf } from '../../packages/gateway/src/upstream/transports.ts';
import { Accounts, type Account } from '../../packages/gateway/src/wire/account.ts';
import { errorLine, resultLine } from '../../packages/gateway/src/wire/answer.ts';
import { encode } from '../../packages/gateway/src/wire/json/splice.ts';
import type { Message } from '../../packages/gateway/src/wire/message.ts';

export const FIXTURE: string = fileURLToPath(new URL('../fixtures/transport.mjs', import.meta.url));

/** A server of one kind, ready to be opened. */
export interface Site {
  readonly config: ServerConfig;
  /** Kills the server without a warning. */
  kill(): Promise<void>;
  /** Returns what is left of the connection at the server's side; empty where nothing is. */
  leftovers(): Promise<string>;
}

export interface TransportCase {
  readonly name: string;
  /** Names the reason where this machine cannot run the tests. */
  readonly skipped?: string | undefined;
  start(): Promise<Site>;
  /** The error of a call whose server exits with code 3, and of one whose server is killed. */
  readonly exited: RegExp;
  readonly killed: RegExp;
  /** True where `lost` resolves when the server exits. Requests to an address fail each for itself. */
  readonly tellsLoss: boolean;
  /** True where the gateway reads what the server writes to stderr. */
  readonly hasStderr: boolean;
  /** The environment in which the server is started. */
  readonly env?: Readonly<Record<string, string>>;
}

const MIB = 1024 * 1024;
const MAX_MESSAGE_SIZE = 8 * MIB;

/** A connection to the fixture, with what came through it. */
class Opened {
  readonly connection: Connection;
  readonly account: Account;
  readonly notifications: Message[];

  constructor(connection: Connection, account: Account, notifications: Message[]) {
    this.connection = connection;
    this.account = account;
    this.notifications = notifications;
  }

  /** Calls a method of the fixture as the call of a client, and parses its result. */
  async call(method: string, params: unknown = {}): Promise<Record<string, unknown>> {
    const answer = await this.connection.peer.request(method, encode(params), false);
    return readResult(answer);
  }
}

/** Runs the suite against one transport. */
export function describeConnection(transport: TransportCase): void {
  describe.skipIf(transport.skipped !== undefined)(`a connection by ${nameOf(transport)}`, () => {
    test('a connection does the handshake and carries a call and its answer', async () => {
      const { opened } = await open(transport);
      expect(await opened.call('echo', { text: 'grüße ✓', number: 12 })).toEqual({
        text: 'grüße ✓',
        number: 12,
      });
      expect(opened.connection.keepsSession).toBe(true);
      expect(opened.connection.heard).toBeGreaterThan(1);
    });

    test('a connection carries notifications in both directions', async () => {
      const { opened } = await open(transport);
      opened.connection.peer.notify('notifications/hello', { to: 'the server' });
      await expect.poll(() => toldMethods(opened)).toContain('notifications/hello');
      await opened.call('tell', { to: 'the client' });
      await expect
        .poll(() => opened.notifications.map(({ method }) => method))
        .toEqual(['notifications/told']);
    });

    test('a connection carries a question of the server and its answer', async () => {
      const { opened } = await open(transport);
      expect(await opened.call('ask', {})).toEqual({ answer: { roots: [] } });
    });

    test('a connection carries the cancellation of a call, and goes on', async () => {
      const { opened } = await open(transport);
      const { peer } = opened.connection;
      const handler = { answered() {}, progressed() {}, lost() {} };
      const id = peer.onResponse(handler);
      peer.send(`{"jsonrpc":"2.0","id":${id},"method":"hang","params":{}}`);
      await opened.call('echo');
      peer.forget(id);
      peer.notify('notifications/cancelled', { requestId: id });
      await expect.poll(() => toldMethods(opened)).toContain('notifications/cancelled');
      expect(peer.inFlight).toBe(0);
    });

    test('a connection carries 4 MiB in both directions', async () => {
      const { opened } = await open(transport);
      const text = 'ä'.repeat(2 * MIB);
      expect((await opened.call('echo', { text }))['text'] === text).toBe(true);
    });

    test('a connection fails the one call whose answer is over the limit', async () => {
      const { opened } = await open(transport);
      await expect(opened.call('big', { bytes: MAX_MESSAGE_SIZE })).rejects.toThrow(
        /over the limit of 8388608/,
      );
      expect(await opened.call('echo', { text: 'still there' })).toEqual({ text: 'still there' });
    });

    test('a connection fails the one call whose answer is damaged', async () => {
      const { opened } = await open(transport);
      await expect(opened.call('garble')).rejects.toThrow(/^Server 'it' .*UTF-8/);
      expect(await opened.call('echo', { text: 'still there' })).toEqual({ text: 'still there' });
    });

    test('a connection drops invalid messages', async () => {
      const { opened } = await open(transport);
      expect(await opened.call('junk')).toEqual({});
      expect(opened.notifications).toEqual([]);
      expect(await opened.call('echo', { text: 'still there' })).toEqual({ text: 'still there' });
    });

    test('a connection on hold pauses the server, and loses nothing', async () => {
      const { opened } = await open(transport);
      const { connection, account, notifications } = opened;
      const flood = opened.call('flood', { count: 64, bytes: MIB });
      await expect.poll(() => notifications.length).toBeGreaterThan(0);
      connection.hold(true);
      await sleep(300);
      const heard = notifications.length;
      await sleep(300);
      expect([notifications.length, notifications.length < 64]).toEqual([heard, true]);
      expect(account.held).toBeLessThan(2 * MIB);
      connection.hold(false);
      await flood;
      const numbers = notifications.map(
        ({ bytes }) => /"number":(\d+)/.exec(bytes.toString('latin1', 0, 200))?.[1],
      );
      expect(numbers).toEqual(Array.from({ length: 64 }, (_, number) => String(number)));
    });

    test('a connection fails its calls with the reason when the server exits', async () => {
      const { opened } = await open(transport);
      await expect(opened.call('exit', { code: 3 })).rejects.toThrow(transport.exited);
      if (transport.tellsLoss) await expect(opened.connection.lost).resolves.toMatch(transport.exited);
      expect(opened.connection.outputTail()).toEqual(transport.hasStderr ? ['  stderr | it had enough'] : []);
    });

    test('a connection fails its calls with the reason when the server is killed', async () => {
      const { opened, site } = await open(transport);
      const hanging = opened.call('hang');
      await opened.call('echo');
      await Promise.all([expect(hanging).rejects.toThrow(transport.killed), site.kill()]);
    });

    test('a closed connection leaves nothing behind', async () => {
      const before = resources();
      const { opened, site } = await open(transport);
      const hanging = opened.call('hang').catch((error: unknown) => (error as Error).message);
      await opened.call('echo');
      opened.connection.fail('has been stopped');
      await opened.connection.stop();
      expect(await hanging).toBe("Server 'it' has been stopped");
      await expect.poll(() => site.leftovers(), { timeout: 5000 }).toBe('');
      await expect.poll(() => addedTo(before), { timeout: 5000 }).toEqual([]);
      expect(opened.account.held).toBe(0);
    });
  });
}

function nameOf({ name, skipped }: TransportCase): string {
  return skipped === undefined ? name : `${name} (${skipped})`;
}

/** Opens a connection to a server of its own, and shakes hands. Both end with the test. */
async function open(transport: TransportCase): Promise<{ opened: Opened; site: Site }> {
  const site = await transport.start();
  const env = { PATH: process.env['PATH'] ?? '', ...transport.env };
  const guard = startGuard({ path: env.PATH });
  const account = new Accounts(MAX_MESSAGE_SIZE).open(() => {});
  const notifications: Message[] = [];
  const connection = await transportOf(site.config).open({
    serverKey: 'it',
    config: site.config,
    maxMessageSize: MAX_MESSAGE_SIZE,
    account,
    log: silentLog,
    clientInfo: { name: 'test', version: '1.0.0' },
    chain: new Chain(() => 'test'),
    guard: () => guard,
    slots: createSlots(2),
    environmentOf: () => env,
    containers: async () => {
      const { containersFor } = await import('../../packages/gateway/src/upstream/container/containers.ts');
      const containers = containersFor(env, silentLog);
      onTestFinished(() => containers.end());
      return containers;
    },
    listenTimeoutMs: 20_000,
    request: ({ id, method }) =>
      connection.peer.reply(
        method === 'roots/list'
          ? resultLine(id, '{"roots":[]}')
          : errorLine(id, new Error('unknown') as never),
      ),
    notification: (message) => notifications.push(message),
    failed: (error) => {
      throw error;
    },
    renewed: () => {},
    outdated: async () => {},
    isStopped: () => false,
    arriving: () => {},
  });
  onTestFinished(async () => {
    await connection.stop();
    await guard.release();
  });
  await shakeHands(connection.peer, {
    serverKey: 'it',
    envelope: { clientInfo: { name: 'test', version: '1.0.0' }, capabilities: '{}' },
    knownEra: 'legacy',
    isFixed: true,
    probeTimeoutMs: 20_000,
    prefersLegacy: false,
  });
  return { opened: new Opened(connection, account, notifications), site };
}

async function toldMethods(opened: Opened): Promise<unknown[]> {
  const { told } = await opened.call('told');
  return (told as { method: string }[]).map(({ method }) => method);
}

/** The processes, pipes and sockets of this process that keep it alive, by kind. */
function resources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /Process|Pipe|TCP|FSReq/.test(kind))
    .toSorted();
}

/** The resources that came after `before`. */
function addedTo(before: readonly string[]): string[] {
  const rest = [...before];
  return resources().filter((kind) => {
    const at = rest.indexOf(kind);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}
