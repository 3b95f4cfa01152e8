// Attacks F1 to F28 and the ordinary use of a file server, for every way into it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createResourceStore,
  type FileServingConfig,
  generateFileLinkKey,
  type ResourceStore,
  signFileLink,
  type StoredFile,
} from '@weir/server/files';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { until } from '../support/processes.ts';
import { verifies } from '../verifies.ts';
import {
  type Answer,
  type Asked,
  type Door,
  onLinuxOnly,
  type OpenDoor,
  openFilesBelow,
} from './file-doors.ts';

const KIT = 'KIT-FILES-1';
const UNKNOWN_ID = 'AAAAAAAAAAAAAAAAAAAAAA';
const CONTENT = 'a,b\n1,2\n';
const MINUTE_MS = 60_000;
const onLinux = verifies.skipIf(onLinuxOnly);
const onDevices = verifies.skipIf(
  onLinuxOnly ?? (process.getuid?.() === 0 ? undefined : 'only root can make a device'),
);

export function describeDoor(name: string, openDoor: OpenDoor): void {
  let parent: string;
  let root: string;
  let store: ResourceStore;
  let now: number;
  let open: Door[];

  beforeEach(() => {
    parent = temporaryFolder();
    root = join(parent, 'files');
    now = Date.parse('2026-11-19T12:00:00Z');
    store = createResourceStore({ uri: pathToFileURL(root).href, now: () => now });
    open = [];
  });
  afterEach(() => Promise.all(open.map((door) => door.close())));

  const serve = async (config: Partial<FileServingConfig> = {}): Promise<Door> => {
    const door = await openDoor({
      routePrefix: '/exports',
      resourceStoreUri: pathToFileURL(root).href,
      principal: (request) => request.header('x-user'),
      now: () => now,
      ...config,
    });
    open.push(door);
    return door;
  };
  const serveAll = (filename = 'report.csv'): Promise<Door> =>
    serve({ getMetadata: async () => ({ filename }) });
  const putFor = (owner: string, filename = 'report.csv'): Promise<StoredFile> =>
    store.put(CONTENT, { filename, owner });

  describe(name, () => {
    const refusals: [attack: string, target: string][] = [
      ['an encoded parent path is refused (F1)', '/exports/..%2Ffiles-secret%2Fs.txt'],
      ['an encoded pair of dots is refused (F2)', '/exports/%2e%2e/files-secret/s.txt'],
      ['a plain pair of dots is refused (F2)', '/exports/../files-secret/s.txt'],
      ['an encoded backslash is refused (F3)', '/exports/..%5Cfiles-secret%5Cs.txt'],
      ['a path that is encoded twice is refused (F4)', '/exports/%252e%252e%252ffiles-secret%252fs.txt'],
      ['an encoded NUL is refused (F5)', '/exports/ok%00.csv'],
      ['bad UTF-8 is refused (F6)', '/exports/%ff%fe'],
      ['an overlong encoding of a slash is refused (F6)', '/exports/..%c0%affiles-secret%c0%afs.txt'],
      ['an encoded absolute path is refused (F7)', '/exports/%2Fetc%2Fpasswd'],
      ['an absolute path is refused (F7)', '/exports//etc/passwd'],
      ['a dotfile is refused (F13)', '/exports/.env'],
      ['an encoded dotfile is refused (F13)', '/exports/%2eenv'],
      ['the record of a file is refused (F13)', '/exports/ok.json'],
      ['an id of 10 kB is refused (F14)', `/exports/${'a'.repeat(10_000)}`],
      ['an id with a look-alike letter is refused (F14)', `/exports/${encodeURIComponent('\u043e')}k`],
      ['an encoded letter of an id that exists is refused (F14)', '/exports/%6fk'],
      ['an id with a slash behind it is refused', '/exports/ok/'],
      ['the name of a device is refused', '/exports/CON'],
    ];
    for (const [attack, target] of refusals)
      verifies(KIT, attack, async () => {
        mkdirSync(join(parent, 'files-secret'));
        writeFileSync(join(parent, 'files-secret', 's.txt'), 'secret');
        for (const file of ['ok', 'ok.json', '.env', 'CON']) writeFileSync(join(root, file), 'secret');
        const door = await serveAll();
        expect(await door.ask('/exports/ok')).toMatchObject({ status: 200, body: 'secret' });
        const answer = await door.ask(target);
        expect(answer.status).toBe(404);
        expect(answer.body).not.toContain('secret');
        // A target with dots may be normalised to a path of the application, which answers in its own words.
        if (!/(?:\.|%2e){2}\//.test(target)) expect(answer).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`));
      });

    verifies(KIT, 'a symlink in the store is not followed (F8)', async () => {
      writeFileSync(join(parent, 'secret'), 'secret');
      symlinkSync(join(parent, 'secret'), join(root, 'link'));
      const door = await serveAll();
      expect(await door.ask('/exports/link')).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`));
    });

    verifies(
      KIT,
      'a store whose folder was replaced by a symlink serves nothing and tells the operator (F9)',
      async () => {
        const elsewhere = join(parent, 'elsewhere');
        mkdirSync(elsewhere);
        writeFileSync(join(elsewhere, 'id'), 'secret');
        writeFileSync(join(root, 'id'), 'right');
        const told: string[] = [];
        const door = await serve({
          getMetadata: async () => ({ filename: 'x' }),
          logger: { ...silent, error: (message) => told.push(message) },
        });
        expect((await door.ask('/exports/id')).body).toBe('right');
        renameSync(root, `${root}-old`);
        symlinkSync(elsewhere, root);
        const answer = await door.ask('/exports/id');
        expect(answer.status).toBe(500);
        expect(answer.body).not.toMatch(/secret|elsewhere|files/);
        expect((await door.ask('/exports/unknown')).status).toBe(500);
        expect(told).toHaveLength(2);
        expect(told.join()).toContain('was replaced while it was in use');
        await expect(putFor('ada')).rejects.toThrow('was replaced while it was in use');
      },
    );

    verifies(
      KIT,
      'a hard link is refused, because its other name may be in reach of another user (F10)',
      async () => {
        writeFileSync(join(parent, 'other'), 'secret');
        linkSync(join(parent, 'other'), join(root, 'hard'));
        const door = await serveAll();
        expect(await door.ask('/exports/hard')).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`));
      },
    );

    onLinux(KIT, 'a FIFO and a socket are refused at once (F11)', async () => {
      execFileSync('mkfifo', [join(root, 'fifo')]);
      const listener = createServer().listen(join(root, 'socket'));
      await until(() => listener.listening);
      const door = await serveAll();
      const unknown = await door.ask(`/exports/${UNKNOWN_ID}`);
      expect(await door.ask('/exports/fifo')).toEqual(unknown);
      expect(await door.ask('/exports/socket')).toEqual(unknown);
      listener.close();
      expect(openFilesBelow(root)).toEqual([]);
    });

    onDevices(KIT, 'a device is refused (F11)', async () => {
      execFileSync('mknod', [join(root, 'zero'), 'c', '1', '5']);
      const door = await serveAll();
      expect(await door.ask('/exports/zero')).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`));
    });

    verifies(KIT, 'a folder in the store is refused (F12)', async () => {
      mkdirSync(join(root, 'folder'));
      const door = await serveAll();
      expect(await door.ask('/exports/folder')).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`));
    });

    verifies(KIT, 'a hostile name neither leaves its header nor reaches the disk (F15)', async () => {
      const names: [filename: string, header: string][] = [
        ['../../x', 'attachment; filename="_.._x"'],
        ['a"\r\nSet-Cookie: x', 'attachment; filename="a___Set-Cookie_ x"'],
        ['CON.csv', 'attachment; filename="_CON.csv"'],
        ['a\u202Evsc.exe', 'attachment; filename="a_vsc.exe"'],
        [`${'n'.repeat(300)}.csv`, `attachment; filename="${'n'.repeat(251)}.csv"`],
        ['Größe.csv', `attachment; filename="Gr__e.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.csv`],
        ['..', 'attachment; filename="download"'],
      ];
      for (const [filename, header] of names) {
        writeFileSync(join(root, 'named'), CONTENT);
        const door = await serveAll(filename);
        const { headers } = await door.ask('/exports/named');
        expect(headers['content-disposition']).toBe(header);
        expect(headers).not.toHaveProperty('set-cookie');
        const stored = await store.put(CONTENT, { filename, owner: 'ada' });
        expect(readFileSync(join(root, stored.id), 'utf8')).toBe(CONTENT);
      }
    });

    const ranges: [range: string, status: number, body: string, contentRange?: string][] = [
      ['bytes=0-2', 206, 'a,b', 'bytes 0-2/8'],
      ['bytes=4-', 206, '1,2\n', 'bytes 4-7/8'],
      ['bytes=-2', 206, '2\n', 'bytes 6-7/8'],
      ['bytes=-99', 206, CONTENT, 'bytes 0-7/8'],
      ['bytes=0-99999999999999999999999', 206, CONTENT, 'bytes 0-7/8'],
      ['bytes=9-1', 200, CONTENT],
      ['bytes=-', 200, CONTENT],
      ['lines=0-1', 200, CONTENT],
      [`bytes=${'0-0,'.repeat(2000)}1-1`, 200, CONTENT],
      ['bytes=0-0,2-2', 200, CONTENT],
      ['bytes=-0', 416, '', 'bytes */8'],
      ['bytes=8-', 416, '', 'bytes */8'],
      ['bytes=99999999999999999999999-', 416, '', 'bytes */8'],
    ];

    verifies(
      KIT,
      'a download resumes by one range, and other ranges cost no more than the file (F16)',
      async () => {
        const { id } = await putFor('ada');
        const door = await serve();
        for (const [range, status, body, contentRange] of ranges) {
          const answer = await door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada', range } });
          const { status: sent, headers, body: text } = answer;
          const expected = { range, status, contentRange, text: status === 416 ? text : body };
          expect({ range, status: sent, contentRange: headers['content-range'], text }).toEqual(expected);
        }
      },
    );

    verifies(KIT, 'a stale If-Range gets the whole file, a right one its range (F17)', async () => {
      const { id, sha256 } = await putFor('ada');
      const door = await serve();
      const ask = (ifRange: string): Promise<Answer> =>
        door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada', range: 'bytes=0-2', 'if-range': ifRange } });
      expect((await ask(`"${sha256}"`)).status).toBe(206);
      expect((await ask('Thu, 19 Nov 2026 12:00:00 GMT')).status).toBe(206);
      for (const stale of ['"stale"', `W/"${sha256}"`, 'Thu, 19 Nov 2026 11:59:59 GMT', 'rubbish'])
        expect(await ask(stale)).toMatchObject({ status: 200, body: CONTENT });
    });

    onLinux(KIT, 'HEAD of a file of 2 GB reads none of it (F18)', async () => {
      writeFileSync(join(root, 'large'), '');
      truncateSync(join(root, 'large'), 2 * 1024 ** 3);
      const door = await serveAll();
      const before = bytesRead();
      const head = await door.ask('/exports/large', { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '2147483648' } });
      expect(bytesRead() - before).toBeLessThan(1024 ** 2);
      expect(openFilesBelow(root)).toEqual([]);
    });

    verifies(KIT, 'a list of types in place of allowInline is refused', async () => {
      const listed = serve({ allowInline: ['text/plain'] as unknown as boolean });
      await expect(listed).rejects.toThrow(
        new TypeError(
          'allowInline must be true or false: true shows PDF, plain text and bitmap images, and no list of types can be given',
        ),
      );
    });

    verifies(KIT, 'HTML and SVG are downloads even where other types are shown (F19)', async () => {
      const door = await serve({ allowInline: true });
      const disposition = async (filename: string): Promise<string | undefined> => {
        const { id } = await putFor('ada', filename);
        const { headers } = await door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada' } });
        expect(headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'content-security-policy': "sandbox; default-src 'none'",
        });
        return headers['content-disposition']?.split(';')[0];
      };
      expect(await disposition('page.html')).toBe('attachment');
      expect(await disposition('image.svg')).toBe('attachment');
      expect(await disposition('page.xml')).toBe('attachment');
      expect(await disposition('notes.txt')).toBe('inline');
      expect(await disposition('image.png')).toBe('inline');
    });

    verifies(
      KIT,
      'a link that was altered in any way, or has expired, is an unknown file (F20)',
      async () => {
        const keys = [generateFileLinkKey()];
        const { id } = await putFor('ada');
        const { id: other } = await putFor('ada', 'other.csv');
        const door = await serve({ linkKeys: keys });
        const link = signFileLink(id, { keys, routePrefix: '/exports', owner: 'ada', now: () => now });
        const unknown = await door.ask(`/exports/${UNKNOWN_ID}`);
        expect(await door.ask(link)).toMatchObject({ status: 200, body: CONTENT });

        const altered = [
          link.replace(id, other),
          link.replace('sub=ada', 'sub=bob'),
          link.replace('sub=ada&', ''),
          link.replace('sub=ada', 'sub='),
          link.replace(/exp=\d+/, 'exp=NaN'),
          link.replace(/exp=\d+/, 'exp=99999999999'),
          link.replace(/exp=(\d+)/, 'exp=0$1'),
          link.replace(/exp=\d+/, 'exp=Infinity'),
          link.replace(/exp=\d+&/, ''),
          link.replace(/kid=[^&]+/, 'kid=other'),
          link.replace(/sig=.{4}/, 'sig=AAAA'),
          link.replace(/&sig=.*/, ''),
          link.replace(/&sig=.*/, '&sig='),
          `${link}&sig=${'A'.repeat(43)}`,
          `${link}&exp=99999999999`,
          `${link}&sub=bob`,
          `${link}A`,
          signFileLink(id, {
            keys: [generateFileLinkKey()],
            routePrefix: '/exports',
            owner: 'ada',
            now: () => now,
          }),
          signFileLink(id, { keys, routePrefix: '/exports', owner: 'bob', now: () => now }),
          signFileLink(id, { keys, routePrefix: '/exports', now: () => now }),
        ];
        for (const target of altered)
          expect({ target, ...(await door.ask(target)) }).toEqual({ target, ...unknown });

        expect(await door.ask(link, { headers: { 'x-user': 'bob' } })).toEqual(unknown);
        expect((await door.ask(link, { headers: { 'x-user': 'ada' } })).status).toBe(200);
        now += 15 * MINUTE_MS - 1;
        expect((await door.ask(link)).status).toBe(200);
        now += 1;
        expect(await door.ask(link)).toEqual(unknown);
      },
    );

    verifies(KIT, 'links of an earlier key work until that key is taken away (F20)', async () => {
      const [before, after] = [generateFileLinkKey(), generateFileLinkKey()];
      const { id } = await putFor('ada');
      const link = signFileLink(id, {
        keys: [before],
        routePrefix: '/exports',
        owner: 'ada',
        now: () => now,
      });
      expect((await (await serve({ linkKeys: [after, before] })).ask(link)).status).toBe(200);
      expect((await (await serve({ linkKeys: [after] })).ask(link)).status).toBe(404);
      expect((await (await serve()).ask(link)).status).toBe(404);
    });

    verifies(
      KIT,
      'a file of another user, an expired one and an unknown one get the same bytes (F21)',
      async () => {
        const { id } = await putFor('ada');
        const { id: unowned } = await store.put(CONTENT, { filename: 'x' });
        const { id: short } = await store.put(CONTENT, { filename: 'x', owner: 'bob', ttlMs: MINUTE_MS });
        const door = await serve();
        const ask = (target: string, user?: string): Promise<Answer> =>
          door.ask(`/exports/${target}`, user === undefined ? {} : { headers: { 'x-user': user } });
        expect((await ask(id, 'ada')).status).toBe(200);
        expect((await ask(short, 'bob')).status).toBe(200);
        now += MINUTE_MS;
        const unknown = await ask(UNKNOWN_ID, 'bob');
        expect(unknown).toMatchObject({ status: 404, headers: { 'cache-control': 'private, no-store' } });
        expect(await ask(id, 'bob')).toEqual(unknown);
        expect(await ask(id)).toEqual(unknown);
        expect(await ask(id, '')).toEqual(unknown);
        expect(await ask(short, 'bob')).toEqual(unknown);
        expect(await ask(unowned, 'bob')).toEqual(unknown);
        expect(await ask(unowned)).toEqual(unknown);
      },
    );

    verifies(KIT, 'metadata with an owner is refused to others, and null to all (F21)', async () => {
      for (const id of ['abc123', 'hers', 'open', 'old']) writeFileSync(join(root, id), CONTENT);
      const asked: [string, string | undefined][] = [];
      const door = await serve({
        getMetadata: async (id, principal) => {
          asked.push([id, principal]);
          if (id === 'hers') return { filename: 'hers.csv', owner: 'ada' };
          if (id === 'open') return { filename: 'open.csv' };
          if (id === 'old') return { filename: 'old.csv', expiresAt: '2026-11-19T12:00:00Z' };
          return null;
        },
      });
      const unknown = await door.ask(`/exports/${UNKNOWN_ID}`);
      expect(await door.ask('/exports/abc123')).toEqual(unknown);
      expect(await door.ask('/exports/hers')).toEqual(unknown);
      expect(await door.ask('/exports/old')).toEqual(unknown);
      expect((await door.ask('/exports/open')).headers['content-disposition']).toContain('open.csv');
      expect((await door.ask('/exports/hers', { headers: { 'x-user': 'ada' } })).status).toBe(200);
      expect(asked).toContainEqual(['hers', 'ada']);
      expect(asked).toContainEqual(['hers', undefined]);
    });

    verifies(
      KIT,
      'an answer to a stranger is made without the store, so it cannot hint at ids (F22)',
      async () => {
        const { id } = await putFor('ada');
        const told: string[] = [];
        const door = await serve({ logger: { ...silent, error: (message) => told.push(message) } });
        const answers = [await door.ask(`/exports/${id}`), await door.ask(`/exports/${UNKNOWN_ID}`)];
        renameSync(root, `${root}-away`);
        answers.push(await door.ask(`/exports/${id}`), await door.ask(`/exports/${UNKNOWN_ID}`));
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
        expect(told).toEqual([]);
      },
    );

    onLinux(KIT, 'a file that is removed while it is sent arrives whole (F23)', async () => {
      const bytes = 'x'.repeat(16 * 1024 ** 2);
      const { id } = await store.put(bytes, { filename: 'x', owner: 'ada' });
      const door = await serve();
      const answer = await door.ask(`/exports/${id}`, {
        headers: { 'x-user': 'ada' },
        meanwhile: () => unlinkSync(join(root, id)),
      });
      expect(answer.isComplete && answer.body === bytes).toBe(true);
      await until(() => openFilesBelow(root).length === 0);
    });

    onLinux(
      KIT,
      'a file that is truncated while it is sent ends in an error, never as if complete (F23)',
      async () => {
        writeFileSync(join(root, 'cut'), '');
        truncateSync(join(root, 'cut'), 64 * 1024 ** 2);
        const door = await serveAll();
        const answer = await door.ask('/exports/cut', {
          meanwhile: () => truncateSync(join(root, 'cut'), 10),
        });
        expect(answer).toMatchObject({ status: 200, isComplete: false });
        await until(() => openFilesBelow(root).length === 0);
      },
    );

    verifies(KIT, 'a file of another size than recorded is not served (F23)', async () => {
      const { id } = await putFor('ada');
      const door = await serve();
      truncateSync(join(root, id), 3);
      expect((await door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada' } })).status).toBe(404);
    });

    verifies(
      KIT,
      'an id that differs by case is another id, also on a disk that ignores case (F26)',
      async () => {
        const { id } = await store.put(CONTENT, { id: 'Report', filename: 'x', owner: 'ada' });
        // A disk that ignores case would find the record and the bytes of 'Report' here.
        const ada = createHash('sha256').update('owner:ada').digest('hex').slice(0, 32);
        writeFileSync(join(root, `${ada}.REPORT.json`), readFileSync(join(root, `${ada}.${id}.json`)));
        writeFileSync(join(root, 'REPORT'), CONTENT);
        const door = await serve();
        const headers = { 'x-user': 'ada' };
        expect((await door.ask('/exports/Report', { headers })).status).toBe(200);
        expect((await door.ask('/exports/REPORT', { headers })).status).toBe(404);
        const names = await Promise.all([putFor('ada', 'a.txt'), putFor('ada', 'A.TXT')]);
        expect(new Set(names.map(({ id }) => id)).size).toBe(2);
      },
    );

    verifies(KIT, 'a list has the files of the caller and of no other user (F27)', async () => {
      const { id } = await putFor('ada');
      await putFor('bob');
      await store.put(CONTENT, { filename: 'unowned' });
      await store.put(CONTENT, { filename: 'expired', owner: 'ada', ttlMs: 1 });
      now += 1;
      const door = await serve();
      const list = async (asked: Asked): Promise<unknown> =>
        JSON.parse((await door.ask('/exports/', asked)).body);
      expect(await list({ headers: { 'x-user': 'ada' } })).toEqual({
        items: [
          {
            id,
            name: 'report.csv',
            size: 8,
            contentType: 'text/csv',
            createdAt: '2026-11-19T12:00:00.000Z',
            expiresAt: '2026-11-20T12:00:00.000Z',
            uri: `/exports/${id}`,
          },
        ],
      });
      expect(await list({ headers: { 'x-user': 'eve' } })).toEqual({ items: [] });
      expect(await list({})).toEqual({ items: [] });
      const all = await serve({ getMetadata: async (id) => ({ filename: id }) });
      expect((await all.ask('/exports')).body).toBe('{"items":[]}');
      expect((await door.ask('/exports', { headers: { 'x-user': 'ada' } })).body).toContain(id);
    });

    verifies(KIT, 'a list of the program shows each caller what would be served to it (F27)', async () => {
      for (const id of ['hers', 'his', 'all']) writeFileSync(join(root, id), CONTENT);
      const door = await serve({
        getMetadata: async (id) => ({
          filename: id,
          ...(id !== 'all' && { owner: id === 'hers' ? 'ada' : 'bob' }),
        }),
        getAllFiles: async () =>
          ['hers', 'his', 'all'].map((id) => ({
            id,
            name: id,
            size: 8,
            contentType: 'text/csv',
            createdAt: '2026-11-19T12:00:00.000Z',
            uri: `/exports/${id}`,
          })),
      });
      const ids = async (user?: string): Promise<string[]> => {
        const { body } = await door.ask(
          '/exports',
          user === undefined ? {} : { headers: { 'x-user': user } },
        );
        return (JSON.parse(body) as { items: { id: string }[] }).items.map(({ id }) => id);
      };
      expect(await ids('ada')).toEqual(['all', 'hers']);
      expect(await ids('bob')).toEqual(['all', 'his']);
      expect(await ids()).toEqual(['all']);
    });

    verifies(KIT, 'a long list comes in pages that neither repeat nor lose a file', async () => {
      const put: string[] = [];
      for (let count = 0; count < 7; count++) put.push((await putFor('ada')).id);
      const door = await serve();
      const seen: string[] = [];
      let token: string | undefined = '';
      while (token !== undefined) {
        const target: string = `/exports?pageSize=3${token && `&pageToken=${token}`}`;
        const { body } = await door.ask(target, { headers: { 'x-user': 'ada' } });
        const page = JSON.parse(body) as { items: { id: string }[]; nextPageToken?: string };
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map(({ id }) => id));
        token = page.nextPageToken;
      }
      expect(seen.toSorted()).toEqual(put.toSorted());
      for (const wrong of ['pageSize=0', 'pageSize=201', 'pageSize=x', 'pageToken=x']) {
        const { status } = await door.ask(`/exports?${wrong}`);
        expect({ wrong, status }).toEqual({ wrong, status: 400 });
      }
    });

    verifies(
      KIT,
      'a preflight and a request of a foreign origin are refused without a CORS header (F28)',
      async () => {
        const { id } = await putFor('ada');
        const door = await serve();
        const origin = 'https://evil.example';
        const asked: Asked = { headers: { origin, 'access-control-request-method': 'GET', 'x-user': 'ada' } };
        const preflight = await door.ask(`/exports/${id}`, { ...asked, method: 'OPTIONS' });
        const simple = await door.ask(`/exports/${id}`, asked);
        expect([preflight.status, simple.status]).toEqual([403, 403]);
        expect(preflight).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`, { ...asked, method: 'OPTIONS' }));
        expect(simple).toEqual(await door.ask(`/exports/${UNKNOWN_ID}`, asked));
        const plain = await door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada' } });
        expect(plain.headers['cross-origin-resource-policy']).toBe('same-origin');
        for (const { headers } of [preflight, simple, plain])
          expect(Object.keys(headers).filter((header) => header.startsWith('access-control'))).toEqual([]);
      },
    );

    verifies(
      [KIT, 'KIT-SCOPE-1'],
      'a request for a foreign host is refused, as after DNS rebinding',
      async () => {
        const { id } = await putFor('ada');
        const status = async (config: Partial<FileServingConfig>, host: string): Promise<number> =>
          (await (await serve(config)).ask(`/exports/${id}`, { headers: { 'x-user': 'ada', host } })).status;
        expect(await status({}, 'evil.example')).toBe(403);
        expect(await status({}, 'localhost.evil.example')).toBe(403);
        expect(await status({ allowedHosts: ['Files.example'] }, 'files.example')).toBe(200);
        expect(await status({ routePrefix: 'https://files.example/exports' }, 'files.example')).toBe(200);
        expect(await status({ routePrefix: 'https://files.example/exports' }, 'evil.example')).toBe(403);
      },
    );

    verifies(KIT, 'every method but GET and HEAD gets 405, whatever the id', async () => {
      const { id } = await putFor('ada');
      const door = await serve();
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const answers = [id, UNKNOWN_ID].map((target) => door.ask(`/exports/${target}`, { method }));
        const [known, unknown] = await Promise.all(answers);
        expect(known).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
        expect(known).toEqual(unknown);
      }
    });

    verifies(KIT, 'a file arrives under its name, with headers that keep it where it is', async () => {
      const { id, sha256 } = await putFor('ada', 'Q3 report.csv');
      const door = await serve();
      const asked: Asked = { headers: { 'x-user': 'ada' } };
      const answer = await door.ask(`/exports/${id}`, asked);
      expect(answer).toMatchObject({
        status: 200,
        body: CONTENT,
        headers: {
          'content-type': 'text/csv',
          'content-length': '8',
          'content-disposition': 'attachment; filename="Q3 report.csv"',
          etag: `"${createHash('sha256').update(CONTENT).digest('hex')}"`,
          'last-modified': 'Thu, 19 Nov 2026 12:00:00 GMT',
          'accept-ranges': 'bytes',
          'cache-control': 'private, no-store',
          'content-security-policy': "sandbox; default-src 'none'",
          'x-content-type-options': 'nosniff',
        },
      });
      expect(await door.ask(`/exports/${id}`, { ...asked, method: 'HEAD' })).toEqual({ ...answer, body: '' });

      const conditional = async (headers: Record<string, string>): Promise<number> =>
        (await door.ask(`/exports/${id}`, { headers: { ...asked.headers, ...headers } })).status;
      expect(await conditional({ 'if-none-match': `"x", W/"${sha256}"` })).toBe(304);
      expect(await conditional({ 'if-none-match': '*' })).toBe(304);
      expect(await conditional({ 'if-none-match': '"x"' })).toBe(200);
      expect(await conditional({ 'if-modified-since': 'Thu, 19 Nov 2026 12:00:00 GMT' })).toBe(304);
      expect(await conditional({ 'if-modified-since': 'Thu, 19 Nov 2026 11:59:59 GMT' })).toBe(200);
      expect(await conditional({ 'if-match': `"${sha256}"` })).toBe(200);
      expect(await conditional({ 'if-match': '"x"' })).toBe(412);
    });

    verifies(KIT, 'the bytes of an id of the program are streamed under the name that it gives', async () => {
      writeFileSync(join(root, 'abc123'), CONTENT);
      const door = await serve({
        getMetadata: async (id) => (id === 'abc123' ? { filename: 'abc123.csv' } : null),
      });
      const answer = await door.ask('/exports/abc123');
      expect(answer).toMatchObject({ status: 200, body: CONTENT });
      expect(answer.headers['content-disposition']).toBe('attachment; filename="abc123.csv"');
      expect(answer.headers['etag']).toMatch(/^W\//);
    });

    verifies(KIT, 'a list has signed links where there is a key', async () => {
      await putFor('ada');
      const keys = [generateFileLinkKey()];
      const door = await serve({ linkKeys: keys });
      const { body } = await door.ask('/exports', { headers: { 'x-user': 'ada' } });
      const [item] = (JSON.parse(body) as { items: { uri: string }[] }).items;
      expect((await door.ask(item?.uri ?? '')).body).toBe(CONTENT);
    });

    onLinux(KIT, 'an empty file is served, and no descriptor stays open after any answer', async () => {
      const { id } = await store.put('', { filename: 'empty', owner: 'ada' });
      const door = await serve();
      const ask = async (headers: Record<string, string>): Promise<number> =>
        (await door.ask(`/exports/${id}`, { headers: { 'x-user': 'ada', ...headers } })).status;
      expect(await ask({})).toBe(200);
      expect(await ask({ range: 'bytes=0-' })).toBe(416);
      expect(await ask({ range: 'bytes=-1' })).toBe(416);
      expect(await ask({ 'if-none-match': '*' })).toBe(304);
      expect(await ask({ 'if-match': '"x"' })).toBe(412);
      await until(() => openFilesBelow(root).length === 0);
    });
  });
}

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Bytes that this process has read by system calls. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
