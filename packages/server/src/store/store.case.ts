// The contract of every store, tested with each backend by the test beside it.
import { describe, expect, test } from 'vitest';
import { StoreError, type Store } from './store-contract.ts';

export interface StoreBackend {
  /** Opens the same values; a second store stands for a second process. */
  open(): Store | Promise<Store>;
  /** Ways to make a stored value unreadable, by their names. */
  readonly damages?: Readonly<Record<string, (place: string) => void>>;
}

/** Names that some file system refuses, changes or takes for another. */
const ODD_NAMES = [
  'a|A|ä|a\u0308|€😀|__proto__|constructor|.|..|.a|a.|a.b| |a |-rf|~|a~lock|a~1-2',
  'a/b|../a|a\\b|c:|a:b|%|%41|%61|*?<>"|con|con.a|NUL|com1|\0|\n|\u001b[2J',
  `${'x'.repeat(64)}|${'€'.repeat(21)}`,
].flatMap((names) => names.split('|'));
const BAD_NAMES = ['', 'x'.repeat(65), '€'.repeat(22), 'a\ud800'];

const bytes = (text: string): Buffer => Buffer.from(text);

/** Tries a backend; `create` is called for each test, and returns one without values. */
export function storeCase(name: string, create: () => StoreBackend): void {
  describe(`${name}: a value`, () => {
    test.each([
      ['empty', Buffer.alloc(0)],
      ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
      ['a megabyte', Buffer.alloc(1024 * 1024, 'weir')],
    ])(`a store of ${name} returns a value as it was written: %s`, async (_what, value) => {
      const backend = create();
      await (await backend.open()).set('name', value);
      expect((await (await backend.open()).get('name'))?.equals(value)).toBe(true);
    });

    test(`a store of ${name} replaces, lists and deletes values`, async () => {
      const store = await create().open();
      expect(await store.get('a')).toBeUndefined();
      expect(await store.list()).toEqual([]);
      await store.set('a', bytes('1'));
      await store.set('a', bytes('2'));
      await store.set('b', bytes('3'));
      expect(String(await store.get('a'))).toBe('2');
      expect(await namesIn(store)).toEqual(['a', 'b']);
      await store.delete('a');
      await store.delete('a');
      expect(await store.get('a')).toBeUndefined();
      expect(await namesIn(store)).toEqual(['b']);
    });

    test(`a store of ${name} lists values by the time of their last write, latest first`, async () => {
      const store = await create().open();
      const began = Date.now();
      for (const each of ['a', 'b', 'c', 'a']) {
        await store.set(each, bytes(each));
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      const entries = await store.list();
      expect(entries.map((entry) => entry.name)).toEqual(['a', 'c', 'b']);
      for (const { writtenAt } of entries) {
        expect(writtenAt).toBeGreaterThan(began - 1000);
        expect(writtenAt).toBeLessThan(Date.now() + 1000);
      }
    });

    test(`a store of ${name} copies the buffers of values`, async () => {
      const store = await create().open();
      const passed = bytes('abc');
      await store.set('name', passed);
      passed.fill(0);
      (await store.get('name'))?.fill(0);
      expect(String(await store.get('name'))).toBe('abc');
    });

    test(`a store of ${name} keeps the last of many values that are set at once`, async () => {
      const backend = create();
      const [one, other] = [await backend.open(), await backend.open()];
      await Promise.all(Array.from({ length: 20 }, (_, n) => one.set('a', bytes(String(n)))));
      expect(String(await other.get('a'))).toBe('19');
      await Promise.all([one.set('a', bytes('one')), other.set('a', bytes('other'))]);
      expect(['one', 'other']).toContain(String(await one.get('a')));
    });
  });

  describe(`${name}: a name`, () => {
    test(`a store of ${name} keeps names with special characters apart`, async () => {
      const backend = create();
      const store = await backend.open();
      for (const each of ODD_NAMES) await store.set(each, bytes(each));
      const again = await backend.open();
      for (const each of ODD_NAMES) expect(String(await again.get(each))).toBe(each);
      expect(await namesIn(again)).toEqual(ODD_NAMES.toSorted());
      for (const each of ODD_NAMES) await store.delete(each);
      expect(await store.list()).toEqual([]);
    });

    test.each(BAD_NAMES)(
      `a store of ${name} refuses a name that is empty, too long or not text: %j`,
      async (bad) => {
        const store = await create().open();
        await expect(store.get(bad)).rejects.toThrow('1 to 64 bytes');
        await expect(store.set(bad, bytes(''))).rejects.toThrow('1 to 64 bytes');
        await expect(store.update(bad, () => undefined)).rejects.toThrow('1 to 64 bytes');
        await expect(store.delete(bad)).rejects.toThrow('1 to 64 bytes');
      },
    );

    test(`a store of ${name} lists values by the prefix of their name`, async () => {
      const store = await create().open();
      for (const each of ['a-1', 'a-2', 'b-1', 'A-3']) await store.set(each, bytes(each));
      expect((await store.list('a-')).map((entry) => entry.name).toSorted()).toEqual(['a-1', 'a-2']);
      expect(await store.list('c')).toEqual([]);
    });
  });

  describe(`${name}: an update`, () => {
    test(`an update in a store of ${name} gets the value and resolves to the kept one`, async () => {
      const store = await create().open();
      const seen: (string | undefined)[] = [];
      const append = (before: Buffer | undefined): Buffer => {
        seen.push(before?.toString());
        return bytes(`${before?.toString() ?? ''}x`);
      };
      expect(String(await store.update('a', append))).toBe('x');
      expect(String(await store.update('a', append))).toBe('xx');
      expect(String(await store.update('a', () => undefined))).toBe('xx');
      expect(await store.update('b', () => undefined)).toBeUndefined();
      expect(seen).toEqual([undefined, 'x']);
      expect(await namesIn(store)).toEqual(['a']);
    });

    test(`an update that throws changes nothing in a store of ${name}`, async () => {
      const store = await create().open();
      await store.set('a', bytes('1'));
      const refuse = (): never => {
        throw new TypeError('called off');
      };
      await expect(store.update('a', refuse)).rejects.toThrow(new TypeError('called off'));
      expect(String(await store.get('a'))).toBe('1');
      expect(String(await store.update('a', (before) => bytes(`${String(before)}2`)))).toBe('12');
    });

    test(`two stores of ${name} lose no update of many at once`, async () => {
      const backend = create();
      const stores = [await backend.open(), await backend.open()];
      const increment = (before: Buffer | undefined): Buffer => bytes(String(Number(before ?? 0) + 1));
      await Promise.all(
        stores.flatMap((store) => Array.from({ length: 25 }, () => store.update('n', increment))),
      );
      expect(String(await stores[0]?.get('n'))).toBe('50');
    });

    test(`two stores of ${name} agree on the value that was set first`, async () => {
      const backend = create();
      const stores = [await backend.open(), await backend.open()];
      const kept = await Promise.all(
        stores.map((store, n) => store.update('token', (before) => before ?? bytes(`made by ${n}`))),
      );
      expect(String(kept[0])).toBe(String(kept[1]));
    });
  });

  const { damages = {} } = create();
  describe.skipIf(Object.keys(damages).length === 0)(`${name}: an unreadable value`, () => {
    test.each(Object.keys(damages))(
      `an unreadable value in a store of ${name} is an error until it is replaced: %s`,
      async (how) => {
        const backend = create();
        const store = await backend.open();
        await store.set('a', bytes('1'));
        await store.set('b', bytes('2'));
        const place = store.locate('a');
        backend.damages?.[how]?.(place);
        const error: unknown = await store.get('a').catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(StoreError);
        expect(error).toMatchObject({ place, message: expect.stringContaining(place) as string });
        await expect(store.update('a', () => bytes('3'))).rejects.toBeInstanceOf(StoreError);
        expect(String(await store.get('b'))).toBe('2');
        expect(await namesIn(store)).toContain('b');
        await store.set('a', bytes('3'));
        expect(String(await store.get('a'))).toBe('3');
      },
    );
  });
}

async function namesIn(store: Store): Promise<string[]> {
  return (await store.list()).map(({ name }) => name).sort();
}
