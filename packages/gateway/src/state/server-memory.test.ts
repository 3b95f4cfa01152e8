import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { ServerMemory, type KnownServer } from './server-memory.ts';

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

/** The memory of one gateway over the config in `file`. */
function memory(file = 'a.json', servers: Partial<KnownServer>[] = [{}]): ServerMemory {
  const note = (text: string): void => void said.push(text);
  const log = { info: note, warn: note, error: note };
  const known = servers.map((server) => ({
    serverKey: 's',
    entry: { command: 'x' },
    enabled: true,
    ...server,
  }));
  return new ServerMemory({ folder, configPath: file, env: {}, log }, known);
}

verifies('HEALTH-3', 'a disabled server is noted for the next start, under its config alone', async () => {
  const first = memory();
  expect(first.noted()).toEqual([]);
  first.remember('s', off, true);
  await first.flush();
  expect(memory().noted()).toEqual(['s']);
  expect(memory('b.json').noted()).toEqual([]);
  expect(await memory().recall(['s'])).toEqual(new Map([['s', off]]));
  const next = memory();
  next.remember('s', runs, true);
  await next.flush();
  expect(memory().noted()).toEqual([]);
});

verifies(
  'HEALTH-3',
  'that a server runs here does not enable it where another gateway has disabled it',
  async () => {
    const [one, other] = [memory(), memory()];
    one.remember('s', off, true);
    await one.flush();
    other.remember('s', { ...runs, lastConnectedAt: 7 }, false);
    await other.flush();
    expect(await memory().recall(['s'])).toEqual(new Map([['s', { ...off, lastConnectedAt: 7 }]]));
    expect(memory().noted()).toEqual(['s']);
  },
);

verifies('HEALTH-3', 'what is urgent stays so when something else follows', async () => {
  const one = memory();
  one.remember('s', runs, false);
  await one.flush();
  one.remember('s', off, true);
  one.remember('s', { ...off, lastConnectedAt: 9 }, false);
  await one.flush();
  expect(await memory().recall(['s'])).toEqual(new Map([['s', { ...off, lastConnectedAt: 9 }]]));
});

verifies('HEALTH-3', 'what a server had done before it left the config is kept all the same', async () => {
  const one = memory();
  one.remember('s', off, false);
  one.setServers([]);
  one.remember('s', runs, true);
  await one.flush();
  expect(said).toEqual([]);
  expect(await memory().recall(['s'])).toEqual(new Map([['s', off]]));
});

test('nothing is written before somebody wants it so', async () => {
  const one = memory();
  one.noted();
  one.remember('s', runs, false);
  expect(readdirSync(folder)).toEqual([]);
  await one.flush();
  expect(readdirSync(folder).toSorted()).toEqual(['master.key', 'records']);
});

verifies('HEALTH-3', 'a damaged record is left alone by the news that its server runs', async () => {
  const one = memory();
  one.remember('s', off, true);
  await one.flush();
  const [name = ''] = readdirSync(join(folder, 'records'));
  const file = join(folder, 'records', name);
  writeFileSync(file, 'damaged');
  const next = memory();
  next.remember('s', runs, false);
  await next.flush();
  expect(readFileSync(file, 'utf8')).toBe('damaged');
  expect(said.join()).toContain(`${file} is damaged`);
  next.remember('s', off, true);
  await next.flush();
  expect(await memory().recall(['s'])).toEqual(new Map([['s', off]]));
});

test('a folder that cannot be used is told, and nothing worse', async () => {
  writeFileSync(join(folder, 'records'), '');
  const one = memory();
  one.remember('s', off, true);
  await one.flush();
  expect(said.join()).toContain("The state of server 's' is not kept");
  expect(await one.persistError('s')).toContain('records');
  expect(await one.recall(['s'])).toEqual(new Map());
});

verifies('HEALTH-3', 'a folder that can be used again is used again', async () => {
  writeFileSync(join(folder, 'records'), '');
  const one = memory();
  one.remember('s', runs, true);
  expect(await one.persistError('s')).toContain('records');
  rmSync(join(folder, 'records'));
  one.remember('s', off, true);
  expect(await one.persistError('s')).toBeUndefined();
  expect(await memory().recall(['s'])).toEqual(new Map([['s', off]]));
});
