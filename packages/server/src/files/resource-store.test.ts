import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createResourceStore,
  type FileContent,
  FileQuotaError,
  type ResourceStore,
} from './resource-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let root: string;
let uri: string;
let now: number;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-files-'));
  uri = pathToFileURL(root).href;
  now = Date.now();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Lists the folder, without the count of its bytes. */
const entries = (): string[] => readdirSync(root).filter((name) => name !== '.weir-usage');
const open = (options: Partial<Parameters<typeof createResourceStore>[0]> = {}): ResourceStore =>
  createResourceStore({ uri, now: () => now, ...options });

describe('a resource store', () => {
  test.each<[string, () => FileContent]>([
    ['text', () => 'größe'],
    ['a buffer', () => Buffer.from('größe')],
    ['a stream of Node', () => Readable.from([Buffer.from('grö'), 'ße'])],
    ['a stream of the web', () => new Response('größe').body ?? ''],
    ['an async iterable', () => pieces(['grö', Buffer.from('ße')])],
    ['an ArrayBuffer', () => new TextEncoder().encode('größe').buffer],
    ['a Blob', () => new Blob(['größe'])],
  ])('%s is stored and read back', async (_kind, content) => {
    const store = open();
    const file = await store.put(content(), { filename: 'x.txt', owner: 'ada' });
    expect(file).toMatchObject({ size: 7, contentType: 'text/plain', owner: 'ada' });
    const found = await store.read(file.id, 'ada');
    expect(Buffer.from(found?.bytes ?? []).toString()).toBe('größe');
    expect(found?.file).toEqual(file);
    expect(await store.read(file.id, 'bob')).toBeUndefined();
    expect(await store.read(file.id)).toBeUndefined();
    expect(await store.get('../x', 'ada')).toBeUndefined();
  });

  test('ids are 128 random bits, and files are for the owner of the process alone', async () => {
    const store = open();
    const files = await Promise.all(
      Array.from({ length: 20 }, () => store.put('x', { filename: '../../x' })),
    );
    expect(new Set(files.map(({ id }) => id)).size).toBe(20);
    expect(files.every(({ id }) => Buffer.from(id, 'base64url').length === 16)).toBe(true);
    expect(entries()).toHaveLength(40);
    if (process.platform === 'win32') return;
    expect(entries().map((name) => statSync(join(root, name)).mode & 0o777)).toEqual(Array(40).fill(0o600));
  });

  test.each([
    ['the uri has another scheme', { uri: 'https://files.example/x' }, 'must be a file:// URI'],
    [
      'a quota is not a number',
      { uri: 'file:///x', quota: { ownerBytes: Number.NaN } },
      'quota.ownerBytes NaN',
    ],
    ['the uri is a path', { uri: '/tmp/x' }, 'must be a file:// URI'],
    ['the uri names another machine', { uri: 'file://host/x' }, 'does not name a folder of this machine'],
  ])('a store is refused where %s', (_what, options, message) => {
    expect(() => createResourceStore(options)).toThrow(message);
  });

  test.each([
    ['an id with a path', { id: '../x' }, 'must be 1 to 128 letters'],
    ['an empty owner', { owner: '' }, 'owner must not be empty'],
    ['a largest size that is not a number', { maxBytes: Number.NaN }, 'maxBytes NaN must be'],
    ['a time to live of 0', { ttlMs: 0 }, 'ttlMs 0 must be'],
    ['a time to live that is not a number', { ttlMs: Number.NaN }, 'ttlMs NaN must be'],
  ])('%s is refused', async (_what, options, message) => {
    await expect(open().put('x', { filename: 'x', ...options })).rejects.toThrow(message);
    expect(entries()).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['of type number', 5],
    ['of type Object', {}],
    ['an array', ['x']],
    ['of type Uint16Array', new Uint16Array(2)],
  ])('a content that is %s is refused, and the error names what may be given', async (kind, content) => {
    const refused = open().put(content as FileContent, { filename: 'x' });
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(
      `a Blob, or a stream or another async iterable of texts and bytes; it is ${kind}`,
    );
    expect(entries()).toEqual([]);
  });

  test('an id in use is refused to every owner, and the file under it stays', async () => {
    const store = open();
    await store.put('first', { id: 'report', filename: 'x', owner: 'ada' });
    for (const owner of ['ada', 'bob'])
      await expect(store.put('second', { id: 'report', filename: 'x', owner })).rejects.toThrow(
        '"report" exists',
      );
    expect(Buffer.from((await store.read('report', 'ada'))?.bytes ?? []).toString()).toBe('first');
    expect(entries()).toHaveLength(2);
  });

  test('one of several writers of one id succeeds', async () => {
    const stores = [open(), open()];
    const outcomes = await Promise.allSettled(
      [...stores, ...stores].map((store) => store.put('x', { id: 'same', filename: 'x', owner: 'ada' })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await open().list('ada')).map(({ id }) => id)).toEqual(['same']);
  });

  test('a removed file is gone, and another owner cannot remove it', async () => {
    const store = open();
    const { id } = await store.put('x', { filename: 'x', owner: 'ada' });
    expect(await store.remove(id, 'bob')).toBe(false);
    expect(await store.remove(id, 'ada')).toBe(true);
    expect(await store.remove(id, 'ada')).toBe(false);
    expect(entries()).toEqual([]);
  });

  test('a list has the newest file first', async () => {
    const store = open();
    for (const filename of ['1', '2', '3']) {
      now += 1;
      await store.put('x', { filename, owner: 'ada' });
    }
    expect((await store.list('ada')).map(({ filename }) => filename)).toEqual(['3', '2', '1']);
    expect(await store.list()).toEqual([]);
  });

  test('a logger is told about what was removed', async () => {
    const told: string[] = [];
    const logger = {
      debug: (text: string) => told.push(text),
      info: () => {},
      warn: () => {},
      error: () => {},
    };
    const store = open({ logger });
    await store.put('x', { filename: 'x', ttlMs: 1 });
    now += 1;
    expect(await store.sweep()).toBe(1);
    expect(told.join()).toContain('Removed 1 expired');
  });
});

describe('quotas of a store', () => {
  test.each([
    ['one file', { fileBytes: 10 }, 'the limit of one file'],
    ['the bytes of an owner', { ownerBytes: 10 }, 'files of its owner would exceed 10 bytes'],
    ['the bytes of the store', { totalBytes: 10 }, 'files of the store would exceed 10 bytes'],
  ])('%s may reach the limit and not exceed it', async (_what, quota, message) => {
    const store = open({ quota });
    await expect(store.put(pieces(['12345', '678901']), { filename: 'x' })).rejects.toThrow(message);
    expect(entries()).toEqual([]);
    const { id } = await store.put('1234567890', { filename: 'x' });
    await store.remove(id);
    await store.put('1234567890', { filename: 'x' });
  });

  test('maxBytes limits one file', async () => {
    const refused = open().put('1234', { filename: 'x', maxBytes: 3 });
    await expect(refused).rejects.toThrow(FileQuotaError);
    await expect(refused).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', status: 413 });
    expect(entries()).toEqual([]);
  });

  test('the number of files is limited for each owner', async () => {
    const store = open({ quota: { ownerFiles: 2 } });
    for (const owner of ['ada', 'ada', 'bob']) await store.put('', { filename: 'x', owner });
    await expect(store.put('', { filename: 'x', owner: 'ada' })).rejects.toThrow('already has 2 files');
    await store.put('', { filename: 'x', owner: 'bob' });
  });

  test('files that are written at the same time share the quota', async () => {
    const store = open({ quota: { ownerBytes: 30 } });
    const writes = Array.from({ length: 5 }, () => store.put(pieces(['12345', '67890']), { filename: 'x' }));
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    const sizes = (await store.list()).map(({ size }) => size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(30);
  });

  test('files of an earlier store count, and those of other stores at once', async () => {
    const other = open();
    await other.put('12345', { filename: 'x' });
    const store = open({ quota: { ownerBytes: 10 } });
    await expect(store.put('678901', { filename: 'x' })).rejects.toThrow(FileQuotaError);
    const { id } = await other.put('67890', { filename: 'x' });
    await expect(store.put('1', { filename: 'x' })).rejects.toThrow(FileQuotaError);
    await other.remove(id);
    await store.put('1', { filename: 'x' });
  });

  test('stores that write to one folder at the same time share the quota exactly', async () => {
    const stores = Array.from({ length: 3 }, () => open({ quota: { ownerFiles: 20, ownerBytes: 190 } }));
    const writes = Array.from({ length: 20 }, () =>
      stores.map((store) => store.put('1234567890', { filename: 'x', owner: 'ada' })),
    ).flat();
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
    expect(await open().list('ada')).toHaveLength(19);
  });

  test('a count that was lost or spoiled is put right by a sweep', async () => {
    const quota = { ownerBytes: 10 };
    await open().put('12345', { filename: 'x' });
    unlinkSync(join(root, '.weir-usage'));
    await expect(open({ quota }).put('678901', { filename: 'x' })).rejects.toThrow(FileQuotaError);
    const ghost = `${'0'.repeat(32)}.ghost.json`;
    writeFileSync(join(root, '.weir-usage'), `\n#${'0'.repeat(16)}\n${ghost} 10;\n${ghost} 1`);
    const store = open({ quota: { totalBytes: 10 } });
    await expect(store.put('678901', { filename: 'x' })).rejects.toThrow(FileQuotaError);
    now += MINUTE_MS;
    await expect(store.put('678901', { filename: 'x' })).rejects.toThrow(FileQuotaError);
    await store.put('67890', { filename: 'x' });
  });

  test('the count does not grow with the files that come and go', async () => {
    const store = open();
    await store.put('x', { filename: 'x' });
    for (let round = 0; round < 2; round++) {
      appendFileSync(join(root, '.weir-usage'), `\n${'0'.repeat(32)}.x.json -;`.repeat(2000));
      await store.sweep();
      expect(statSync(join(root, '.weir-usage')).size).toBeLessThan(200);
    }
    await expect(open({ quota: { ownerFiles: 1 } }).put('x', { filename: 'x' })).rejects.toThrow('1 files');
  });
});

describe('expiry and remains of a store', () => {
  test('a file is kept for a day unless its time to live is set, and is removed by a later put', async () => {
    const store = open();
    const kept = await store.put('x', { filename: 'x', ttlMs: Infinity });
    const day = await store.put('x', { filename: 'x' });
    expect(kept).not.toHaveProperty('expiresAt');
    now += 24 * HOUR_MS - 1;
    expect(await store.get(day.id)).toEqual(day);
    now += 1;
    expect(await store.get(day.id)).toBeUndefined();
    expect((await store.list()).map(({ id }) => id)).toEqual([kept.id]);
    expect(entries()).toHaveLength(4);
    await store.put('x', { filename: 'x' });
    expect(entries()).toHaveLength(4);
  });

  test('a source that fails leaves nothing', async () => {
    const store = open();
    const failing = async function* (): AsyncGenerator<string> {
      yield 'some';
      throw new Error('the source failed');
    };
    await expect(store.put(failing(), { filename: 'x' })).rejects.toThrow('the source failed');
    await expect(store.put(pieces([1 as unknown as string]), { filename: 'x' })).rejects.toThrow(
      'must be texts or Uint8Arrays',
    );
    expect(entries()).toEqual([]);
  });

  test('a file that is being written is not served, and no sweep of another process removes it', async () => {
    const store = open();
    let resume = (): void => undefined;
    const slow = async function* (): AsyncGenerator<string> {
      yield 'some';
      await new Promise<void>((resolve) => (resume = resolve));
      yield 'more';
    };
    const written = store.put(slow(), { id: 'slow', filename: 'x' });
    while (!readdirSync(root).includes('slow')) await new Promise((resolve) => setImmediate(resolve));
    expect(await open().get('slow')).toBeUndefined();
    expect(await open().sweep()).toBe(0);
    expect(await store.sweep()).toBe(0);
    resume();
    expect((await written).size).toBe(8);
    expect((await open().read('slow'))?.file.size).toBe(8);
  });

  test('the remains of a crash are removed after an hour, and files of the program never', async () => {
    const store = open();
    const { id } = await store.put('x', { id: 'lost', filename: 'x' });
    const key =
      readdirSync(root)
        .find((name) => name.endsWith('.json'))
        ?.split('.')[0] ?? '';
    unlinkSync(join(root, id));
    writeFileSync(join(root, `${key}.half.json`), '{"isUnfinished":true}');
    writeFileSync(join(root, 'half'), 'some');
    writeFileSync(join(root, `${key}.torn.json`), '{"id":"to');
    writeFileSync(join(root, `${key}.fresh.json.${randomBytes(8).toString('hex')}`), '{}');
    writeFileSync(join(root, 'own'), 'bytes of the program');
    writeFileSync(join(root, 'own.json'), '{}');
    expect(await store.sweep()).toBe(0);
    const earlier = new Date(now - HOUR_MS - 1000);
    for (const name of readdirSync(root)) utimesSync(join(root, name), earlier, earlier);
    expect(await store.sweep()).toBe(3);
    expect(entries().toSorted()).toEqual(['own', 'own.json']);
  });
});

async function* pieces<T>(values: T[]): AsyncGenerator<T> {
  yield* values;
}
