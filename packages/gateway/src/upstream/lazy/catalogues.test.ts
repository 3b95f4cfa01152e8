import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileStore } from '@weir/server/store';
import { afterAll, expect, test, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { silentLog, type Log } from '../../log.ts';
import { definitionOf, type Kind, type Listed, type Listing } from '../catalogue/catalogue.ts';
import { readItem } from '../catalogue/read-list.ts';
import { differingKinds, type CatalogueSnapshot } from './catalogue-snapshot.ts';
import { Catalogues, LOCK_FILE, type CataloguesOptions, type Recalled } from './catalogues.ts';
import { lockText } from './lock-file.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-catalogues-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function listing(...definitions: string[]): Listing {
  const items = definitions.map((text) => readItem(Buffer.from(text), 'name') as Listed);
  return { items, ttlMs: 0, cacheScope: 'private' };
}

const NONE = listing();

function snapshot(...tools: string[]): CatalogueSnapshot {
  const catalogue: Record<Kind, Listing> = {
    tools: listing(...tools),
    prompts: NONE,
    resources: NONE,
    templates: NONE,
  };
  return { era: 'legacy', capabilities: { tools: {} }, instructions: 'Grüße „…“\n', catalogue };
}

const toolsOf = (found: Recalled | undefined): string[] | undefined =>
  found?.snapshot.catalogue.tools.items.map((item) => definitionOf(item).toString());

interface Context {
  folder?: string;
  entry?: string;
  capabilities?: string;
  log?: Log;
}

async function catalogues({
  folder = mkdtempSync(join(root, 'x-')),
  entry = 'e',
  capabilities = '{}',
  log = silentLog,
}: Context = {}): Promise<{
  folder: string;
  memory: Catalogues;
}> {
  const configPath = join(folder, 'mcp.json');
  const memory = await open({ folder, configPath, log, capabilities, entryHash: () => entry });
  return { folder, memory };
}

/** Opens the stored catalogues of a folder, for a client. */
async function open({
  folder,
  capabilities = '{}',
  ...options
}: { folder: string; capabilities?: string } & Omit<
  CataloguesOptions,
  'store' | 'commandName'
>): Promise<Catalogues> {
  const store = createFileStore({ folder: join(folder, 'state', 'catalogues') });
  const memory = new Catalogues({ ...options, store, commandName: 'weir' });
  await memory.load();
  memory.serve(capabilities);
  return memory;
}

/** Stores a catalogue at once. */
async function learn(memory: Catalogues, found: CatalogueSnapshot, serverKey = 's'): Promise<void> {
  memory.learn(serverKey, found);
  await memory.flush();
}

function writeLock(folder: string, found: CatalogueSnapshot, entry = 'e'): void {
  const servers = [{ serverKey: 's', entry, ...found }];
  writeFileSync(join(folder, LOCK_FILE), lockText({ unexpanded: {}, client: '{}', servers }));
}

const A = '{"name":"a","max":12345678901234567890,"text":"ü"}';
const B = '{"name":"b"}';

verifies('AGG-REG-1', 'a stored catalogue is recalled byte for byte', async () => {
  const { folder, memory } = await catalogues();
  expect(memory.recall('s')).toBeUndefined();
  await learn(memory, snapshot(A, B));
  const again = (await catalogues({ folder })).memory.recall('s');
  expect(toolsOf(again)).toEqual([A, B]);
  expect(again?.snapshot).toMatchObject({
    era: 'legacy',
    capabilities: { tools: {} },
    instructions: 'Grüße „…“\n',
  });
  const [tool] = again?.snapshot.catalogue.tools.items ?? [];
  expect(tool?.page.toString('utf8', tool.keyAt, tool.keyEnd)).toBe('"a"');
});

verifies(
  'AGG-REG-1',
  'a catalogue is not recalled for another entry or server, and is marked for another client',
  async () => {
    const { folder, memory } = await catalogues();
    await learn(memory, snapshot(A));
    expect((await catalogues({ folder, entry: 'other' })).memory.recall('s')).toBeUndefined();
    expect((await catalogues({ folder, capabilities: '{"roots":{}}' })).memory.recall('s')?.isForClient).toBe(
      false,
    );
    expect(memory.recall('t')).toBeUndefined();
    expect((await catalogues({ folder, capabilities: '{ }' })).memory.recall('s')).toBeDefined();
  },
);

verifies(
  'AGG-REG-1',
  'the lock file applies until a server differs, and again once the lock file changes',
  async () => {
    const { folder } = await catalogues();
    writeLock(folder, snapshot(A));
    const { memory } = await catalogues({ folder });
    expect(toolsOf(memory.recall('s'))).toEqual([
      A.replace('"name":"a","max":12345678901234567890', '"max":12345678901234567890,"name":"a"'),
    ]);
    await learn(memory, snapshot(B));
    expect(toolsOf((await catalogues({ folder })).memory.recall('s'))).toEqual([B]);
    writeLock(folder, snapshot(A, B));
    expect(toolsOf((await catalogues({ folder })).memory.recall('s'))).toHaveLength(2);
    writeLock(folder, snapshot(A), 'another entry');
    expect(toolsOf((await catalogues({ folder })).memory.recall('s'))).toEqual([B]);
  },
);

test('a catalogue that differs only in order is not stored', async () => {
  const { folder, memory } = await catalogues();
  writeLock(folder, snapshot(A, B));
  (await catalogues({ folder })).memory.learn('s', snapshot(B, A));
  await memory.flush();
  expect(readdirSync(folder)).not.toContain('state');
  expect(differingKinds(snapshot(A, B).catalogue, snapshot(B, A).catalogue)).toEqual([]);
  expect(differingKinds(snapshot(A).catalogue, snapshot(B).catalogue)).toEqual(['tools']);
  await learn(memory, snapshot(A));
});

test('a damaged file of catalogues is ignored', async () => {
  const { folder, memory } = await catalogues();
  await learn(memory, snapshot(A));
  const [name = ''] = readdirSync(join(folder, 'state', 'catalogues'));
  const file = join(folder, 'state', 'catalogues', name);
  const whole = readFileSync(file);
  for (const damaged of [
    whole.subarray(0, 40),
    Buffer.from('[]'),
    Buffer.from('{"version":3}'),
    Buffer.from('{"version":3,"servers":null}'),
    Buffer.from('{"version":3,"servers":{"s":null}}'),
    ...[
      '"lists":{}',
      '"era":"legacy","lists":{}',
      '"era":"later","capabilities":{},"lists":{}',
      '"era":"legacy","capabilities":{},"lists":{"tools":7}',
      '"era":"legacy","capabilities":{},"lists":{"tools":[[1,2,3,4,5]]}',
      '"era":"legacy","capabilities":{},"lists":{"tools":[[0,2,"a",0,3]]}',
      '"era":"legacy","capabilities":{},"lists":{"tools":[[0,3,"a",0,1]]}',
    ].map((members) => Buffer.from(`{"version":3,"size":2,"servers":{"s":{"entry":"e",${members}}}}\n{}`)),
    whole.subarray(0, -1),
    Buffer.from(whole.toString().replace('"version":3', '"version":2')),
    Buffer.from(whole.toString().replace('[[', '[null,[')),
    Buffer.alloc(0),
  ]) {
    writeFileSync(file, damaged);
    expect((await catalogues({ folder })).memory.recall('s')).toBeUndefined();
  }
});

test('a lock file is not copied into the state folder', async () => {
  const { folder } = await catalogues();
  writeLock(folder, snapshot(A));
  const { memory } = await catalogues({ folder });
  expect(memory.recall('s')).toBeDefined();
  await memory.flush();
  await learn(memory, memory.recall('s')?.snapshot ?? snapshot());
  expect(existsSync(join(folder, 'state'))).toBe(false);
});

test('a catalogue is not stored once its entry has left the config', async () => {
  const { folder } = await catalogues();
  for (const later of [undefined, 'other']) {
    let entry: string | undefined = 'e';
    const configPath = join(folder, 'mcp.json');
    const memory = await open({ folder, configPath, log: silentLog, entryHash: () => entry });
    memory.learn('s', snapshot(A));
    entry = later;
    await memory.flush();
    expect(existsSync(join(folder, 'state'))).toBe(false);
  }
});

test('a catalogue is stored after two seconds', async () => {
  vi.useFakeTimers();
  const { folder, memory } = await catalogues();
  memory.learn('s', snapshot(A));
  vi.advanceTimersByTime(1999);
  await Promise.resolve();
  expect(existsSync(join(folder, 'state'))).toBe(false);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await memory.flush();
  expect(readdirSync(join(folder, 'state', 'catalogues'))).toHaveLength(1);
});

test('a catalogue is not stored where a file blocks the state folder', async () => {
  const { folder, memory } = await catalogues();
  writeFileSync(join(folder, 'state'), '');
  await learn(memory, snapshot(A));
  expect((await catalogues({ folder })).memory.recall('s')).toBeUndefined();
});

verifies(
  'AGG-REG-3',
  'gateways of one config share their stored catalogues, and other configs do not see them',
  async () => {
    const { folder, memory: one } = await catalogues();
    const { memory: other } = await catalogues({ folder });
    expect([one.recall('s'), other.recall('t')]).toEqual([undefined, undefined]);
    await learn(one, snapshot(A), 's');
    await learn(other, snapshot(B), 't');
    const { memory } = await catalogues({ folder });
    expect([toolsOf(memory.recall('s')), toolsOf(memory.recall('t'))]).toEqual([[A], [B]]);
    const configPath = join(folder, 'other.json');
    const elsewhere = await open({ folder, configPath, log: silentLog, entryHash: () => 'e' });
    expect(elsewhere.recall('s')).toBeUndefined();
  },
);

verifies('AGG-REG-3', 'catalogues are stored for the latest eight sets of client capabilities', async () => {
  const { folder } = await catalogues();
  const clients = Array.from({ length: 10 }, (_, index) => `{"roots":{"x":${index}}}`);
  const files = join(folder, 'state', 'catalogues');
  for (const [index, capabilities] of clients.entries()) {
    await learn((await catalogues({ folder, capabilities })).memory, snapshot(A));
    // Files that are written in the same millisecond have no order.
    for (const name of readdirSync(files)) {
      const { mtimeMs } = statSync(join(files, name));
      if (mtimeMs > 1e12) utimesSync(join(files, name), index, index);
    }
  }
  expect(readdirSync(files)).toHaveLength(8);
  const isKnown = async (capabilities = ''): Promise<boolean> =>
    (await catalogues({ folder, capabilities })).memory.recall('s')?.isForClient === true;
  expect(await Promise.all(clients.map((client) => isKnown(client)))).toEqual([
    false,
    false,
    ...Array<boolean>(8).fill(true),
  ]);
});

const lockOf = (server: string, version = 1): string =>
  `{"lockfileVersion":${version},"servers":{"s":${server}}}`;

test.each([
  '',
  '{',
  '[]',
  '{"servers":[]}',
  '{"servers":{"s":{}}}',
  '{"servers":{}} more',
  lockOf('{"entry":"e","era":"legacy"}', 2),
  lockOf('{"entry":"e","era":"legacy","capabilities":null}'),
  lockOf(`{"entry":"e","era":"legacy","capabilities":{"x":"${'y'.repeat(60)}\\q"}}`),
])('an invalid lock file is ignored with a warning: %j', async (text) => {
  const { folder } = await catalogues();
  writeFileSync(join(folder, LOCK_FILE), text);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (warning: string) => void warnings.push(warning) };
  expect((await catalogues({ folder, log })).memory.recall('s')).toBeUndefined();
  expect(warnings.join()).toContain('Write it again with "weir lock"');
});

test('a lock file with Windows line ends is accepted', async () => {
  const { folder } = await catalogues();
  writeLock(folder, snapshot(A, B));
  const file = join(folder, LOCK_FILE);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
  expect(toolsOf((await catalogues({ folder })).memory.recall('s'))).toHaveLength(2);
});
