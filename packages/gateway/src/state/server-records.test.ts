import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileStore } from '@weir/server/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { ServerRecords, type KnownServer } from './server-records.ts';

let folder: string;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-memory-'));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const runs = {
  enabled: true,
  autoDisabled: false,
  failureCount: 0,
  wasUnreachable: false,
  lastConnectedAt: 1,
};
const off = { ...runs, enabled: false };

/** Opens the records of one gateway over the config in `file`. */
function memory(file = 'a.json', servers: Partial<KnownServer>[] = [{}]): ServerRecords {
  const note = (text: string): void => void said.push(text);
  const log = { info: note, warn: note, error: note };
  const known = servers.map((server) => ({
    serverKey: 's',
    entry: { command: 'x' },
    enabled: true,
    ...server,
  }));
  const store = createFileStore({ folder: join(folder, 'servers'), isDurable: true });
  return new ServerRecords({ store, configPath: file, log }, known);
}

const nothing = new Map();

verifies('HEALTH-3', 'the next start recalls a disabled server for its own config only', async () => {
  const first = memory();
  expect(await first.recall()).toEqual(nothing);
  first.remember('s', off, true);
  await first.flush();
  expect(await memory('b.json').recall()).toEqual(nothing);
  expect(await memory().recall()).toEqual(new Map([['s', off]]));
  const next = memory();
  next.remember('s', runs, true);
  await next.flush();
  expect(await memory().recall()).toEqual(nothing);
});

verifies('HEALTH-3', 'the records of one config are one file, readable only by its owner', async () => {
  const servers = ['s', 't', '__proto__'].map((serverKey) => ({ serverKey }));
  const one = memory('a.json', servers);
  for (const { serverKey } of servers) one.remember(serverKey, off, true);
  await one.flush();
  expect(await memory('a.json', servers).recall()).toEqual(
    new Map(servers.map(({ serverKey }) => [serverKey, off])),
  );
  const [name = '', ...others] = readdirSync(join(folder, 'servers'));
  expect(others).toEqual([]);
  const file = join(folder, 'servers', name);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    config: 'a.json',
    servers: { s: { enabled: false } },
  });
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

verifies('HEALTH-3', 'gateways that write records of one config at once keep all of them', async () => {
  const keys = Array.from({ length: 10 }, (_, n) => `s${n}`);
  const servers = keys.map((serverKey) => ({ serverKey }));
  const gateways = keys.map((serverKey) => ({ serverKey, records: memory('a.json', servers) }));
  for (const { serverKey, records } of gateways) records.remember(serverKey, off, true);
  await Promise.all(gateways.map(({ records }) => records.flush()));
  expect([...(await memory('a.json', servers).recall()).keys()].toSorted()).toEqual(keys);
});

verifies(
  'HEALTH-3',
  'a server that runs here stays disabled where another gateway has disabled it',
  async () => {
    const [one, other] = [memory(), memory()];
    one.remember('s', off, true);
    await one.flush();
    other.remember('s', { ...runs, lastConnectedAt: 7 }, false);
    await other.flush();
    expect(await memory().recall()).toEqual(new Map([['s', { ...off, lastConnectedAt: 7 }]]));
  },
);

verifies('HEALTH-3', 'an urgent change of a record stays urgent when another one follows', async () => {
  const one = memory();
  one.remember('s', runs, false);
  await one.flush();
  one.remember('s', off, true);
  one.remember('s', { ...off, lastConnectedAt: 9 }, false);
  await one.flush();
  expect(await memory().recall()).toEqual(new Map([['s', { ...off, lastConnectedAt: 9 }]]));
});

verifies(
  'HEALTH-3',
  'a change of a server is written even if the server has left the config since',
  async () => {
    const one = memory();
    one.remember('s', off, false);
    one.setServers([]);
    one.remember('s', runs, true);
    await one.flush();
    expect(said).toEqual([]);
    expect(await memory().recall()).toEqual(new Map([['s', off]]));
  },
);

test('server records are not written before the first flush', async () => {
  const one = memory();
  await one.recall();
  one.remember('s', runs, false);
  expect(readdirSync(folder)).toEqual([]);
  await one.flush();
  expect(readdirSync(folder)).toEqual(['servers']);
});

test('server records ignore files of earlier versions', async () => {
  mkdirSync(join(folder, 'servers'));
  mkdirSync(join(folder, 'records'));
  writeFileSync(join(folder, 'servers', '0123456789abcdef'), '');
  writeFileSync(join(folder, 'records', 'a'.repeat(64)), 'weir1\nencrypted');
  const one = memory();
  expect(await one.recall()).toEqual(nothing);
  one.remember('s', off, true);
  await one.flush();
  expect(await memory().recall()).toEqual(new Map([['s', off]]));
  expect(said).toEqual([]);
});

describe('a damaged file', () => {
  const whole = JSON.stringify({ version: 1, servers: { s: { enabled: false } } });
  const texts = [
    '',
    'damaged',
    '[]',
    'null',
    '{"version":2,"servers":{}}',
    '{"version":1,"servers":[]}',
    whole.slice(0, -2),
  ];

  for (const text of texts)
    verifies(
      'HEALTH-3',
      `a damaged file makes all servers new and stays until an urgent change: ${JSON.stringify(text)}`,
      async () => {
        const one = memory();
        one.remember('s', off, true);
        await one.flush();
        const [name = ''] = readdirSync(join(folder, 'servers'));
        const file = join(folder, 'servers', name);
        writeFileSync(file, text);
        const next = memory();
        expect(await next.recall()).toEqual(nothing);
        expect(said).toEqual([
          `Cannot read the stored state of the servers in a.json, so only the config counts: ${file} is damaged. Delete it to start over.`,
        ]);
        next.remember('s', runs, false);
        await next.flush();
        expect(readFileSync(file, 'utf8')).toBe(text);
        next.remember('s', off, true);
        await next.flush();
        expect(await memory().recall()).toEqual(new Map([['s', off]]));
      },
    );

  test.each([
    null,
    7,
    {},
    { enabled: false },
    { ...off, file: null },
    { ...off, failureCount: '3', file: { enabled: true, hash: '' } },
  ])('a damaged record makes its server new: %j', async (record) => {
    const one = memory();
    one.remember('s', off, true);
    await one.flush();
    const [name = ''] = readdirSync(join(folder, 'servers'));
    writeFileSync(join(folder, 'servers', name), JSON.stringify({ version: 1, servers: { s: record } }));
    expect(await memory().recall()).toEqual(nothing);
    expect(said).toEqual([]);
  });
});

test('server records report an unusable folder once and continue', async () => {
  writeFileSync(join(folder, 'servers'), '');
  const one = memory();
  for (let n = 0; n < 3; n++) {
    one.remember('s', off, true);
    await one.flush();
  }
  expect(said).toEqual([
    expect.stringContaining('Cannot store the state of servers (enabled or disabled): '),
  ]);
  expect(await one.persistError('s')).toContain('servers');
});

verifies('HEALTH-3', 'server records are written again once their folder is usable', async () => {
  writeFileSync(join(folder, 'servers'), '');
  const one = memory();
  one.remember('s', runs, true);
  expect(await one.persistError('s')).toContain('servers');
  rmSync(join(folder, 'servers'));
  one.remember('s', off, true);
  expect(await one.persistError('s')).toBeUndefined();
  expect(await memory().recall()).toEqual(new Map([['s', off]]));
});
