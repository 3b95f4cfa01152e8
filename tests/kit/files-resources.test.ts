// The same file over both transports: as a resource of a server on stdio, and by a link over HTTP.
import { pathToFileURL } from 'node:url';
import {
  createFileServingRouter,
  createResourceStore,
  type FileInfo,
  type FileMetadata,
  type FileServingConfig,
  type FileResourceModule,
  generateFileLinkKey,
  resourceLink,
  signFileLink,
} from '@weir/server/files';
import type { ResourceModule } from '@weir/server/modules';
import express, { type RequestHandler } from 'express';
import { beforeAll, describe, expect, expectTypeOf } from 'vitest';
import { connectSdk, temporaryFolder } from '../support/harness.ts';
import { bundleProgram } from '../support/program.ts';
import { verifies } from '../verifies.ts';
import { doors, listen } from './file-doors.ts';

const KIT = 'KIT-FILES-1';

/** Writes a file for each call of its tool and offers its files as resources. */
const SERVER = `
  import { McpServer } from '@modelcontextprotocol/server';
  import { serveStdio } from '@modelcontextprotocol/server/stdio';
  import { createResourceStore, fileResources, resourceLink } from '@weir/server/files';
  import { registerResources } from '@weir/server/modules';
  const store = createResourceStore({ uri: process.env.FILES });
  // The client may start the server twice, to find its era first.
  if ((await store.get('large')) === undefined) {
    await store.put('of another user', { id: 'hers', filename: 'x', owner: 'ada' });
    await store.put(Buffer.alloc(20), { id: 'large', filename: 'large.bin' });
  }
  serveStdio(() => {
    const server = new McpServer({ name: 'files', version: '1.0.0' });
    registerResources(server, [fileResources(store, { maxBytes: 16 })]);
    server.registerTool('export', { description: 'Writes a file' }, async () => ({
      content: [
        resourceLink(await store.put('a,b\\n1,2\\n', { filename: 'report.csv' })),
        resourceLink(await store.put(Buffer.from([0, 255]), { filename: 'image.png' })),
      ],
    }));
    return server;
  });
`;

let server: string;
beforeAll(async () => {
  server = await bundleProgram(SERVER);
});

describe('files as resources', () => {
  for (const era of ['modern', 'legacy'] as const)
    verifies(KIT, `a ${era} client on stdio reads the file that a tool has made`, async () => {
      const env = { FILES: pathToFileURL(temporaryFolder()).href };
      await using connection = await connectSdk({ command: process.execPath, args: [server], env }, era);
      const { client } = connection;
      const { content } = await client.callTool({ name: 'export' });
      expect(content).toMatchObject([
        { type: 'resource_link', name: 'report.csv', mimeType: 'text/csv', size: 8 },
        { type: 'resource_link', name: 'image.png', mimeType: 'image/png', size: 2 },
      ]);
      const uris = content.map((block) => (block.type === 'resource_link' ? block.uri : ''));
      const read = await Promise.all(uris.map((uri) => client.readResource({ uri })));
      expect(read.map(({ contents }) => contents[0])).toEqual([
        { uri: uris[0], mimeType: 'text/csv', text: 'a,b\n1,2\n' },
        { uri: uris[1], mimeType: 'image/png', blob: 'AP8=' },
      ]);
      const { resources } = await client.listResources();
      expect(resources.map(({ name }) => name).toSorted()).toEqual(['image.png', 'large.bin', 'report.csv']);
      await expect(client.readResource({ uri: 'weir-file:///hers' })).rejects.toThrow();
      await expect(client.readResource({ uri: 'weir-file:///..%2Fhers' })).rejects.toThrow();
      await expect(client.readResource({ uri: 'weir-file:///large' })).rejects.toThrow();
    });

  verifies(KIT, 'a tool over HTTP answers with a link that downloads the file without a login', async () => {
    const resourceStoreUri = pathToFileURL(temporaryFolder()).href;
    const store = createResourceStore({ uri: resourceStoreUri });
    const linkKeys = [generateFileLinkKey()];
    const file = await store.put('a,b\n', { filename: 'report.csv', owner: 'ada' });
    const routePrefix = 'https://files.example/exports';
    const link = resourceLink(file, {
      uri: signFileLink(file.id, { keys: linkKeys, routePrefix, owner: file.owner }),
    });
    expect(link.uri).toMatch(/^https:\/\/files\.example\/exports\/[\w-]{22}\?exp=/);
    for (const [, open] of doors) {
      const door = await open({ routePrefix, resourceStoreUri, linkKeys });
      const { pathname, search } = new URL(link.uri);
      expect(await door.ask(`${pathname}${search}`)).toMatchObject({ status: 200, body: 'a,b\n' });
      await door.close();
    }
  });
});

describe('the config of a file server', () => {
  verifies(KIT, 'every scheme but file is refused when the router is made', async () => {
    for (const resourceStoreUri of ['s3://bucket/x', 'https://files.example', '/var/files', ''])
      for (const [, open] of doors)
        await expect(async () => open({ routePrefix: '/exports', resourceStoreUri })).rejects.toThrow(
          'file:// URI',
        );
  });

  verifies(KIT, 'a route prefix that cannot begin a link is refused', async () => {
    const resourceStoreUri = pathToFileURL(temporaryFolder()).href;
    for (const routePrefix of ['exports', '//host/x', '/a?b', 'ftp://host/x', 'https://user@host/', ''])
      for (const [, open] of doors)
        await expect(async () => open({ routePrefix, resourceStoreUri })).rejects.toThrow('routePrefix');
  });

  verifies(KIT, 'a key that protects nothing is refused', async () => {
    const config = { routePrefix: '/exports', resourceStoreUri: pathToFileURL(temporaryFolder()).href };
    const good = generateFileLinkKey();
    const wrong: [FileServingConfig['linkKeys'], string][] = [
      [[{ kid: 'a', secret: new Uint8Array(31) }], 'at least 32 bytes'],
      [[{ kid: 'a b', secret: good.secret }], 'kid "a b"'],
      [[good, good], 'Two keys are named'],
    ];
    for (const [linkKeys, message] of wrong)
      for (const [, open] of doors)
        await expect(async () => open({ ...config, linkKeys: linkKeys ?? [] })).rejects.toThrow(message);
    expect(() => signFileLink('x', { keys: [], routePrefix: '/exports' })).toThrow('keys is empty');
    expect(() => signFileLink('../x', { keys: [good], routePrefix: '/exports' })).toThrow(
      'not the id of a file',
    );
    expect(() => signFileLink('x', { keys: [good], routePrefix: '/x', ttlMs: Infinity })).toThrow(
      'links expire',
    );
  });

  verifies(KIT, 'a limit that limits nothing is refused', async () => {
    const config = { routePrefix: '/exports', resourceStoreUri: pathToFileURL(temporaryFolder()).href };
    const wrong = [{ maxDownloads: 0 }, { maxDownloads: Number.NaN }, { stallMs: 0 }, { stallMs: Infinity }];
    for (const limits of wrong)
      for (const [, open] of doors)
        await expect(async () => open({ ...config, limits })).rejects.toThrow('limits.');
  });

  verifies(KIT, 'a router finds its paths wherever it is mounted, and leaves the others alone', async () => {
    const resourceStoreUri = pathToFileURL(temporaryFolder()).href;
    await createResourceStore({ uri: resourceStoreUri }).put('found', {
      id: 'x',
      filename: 'x',
      owner: 'ada',
    });
    const router = createFileServingRouter({
      routePrefix: '/a/files',
      resourceStoreUri,
      principal: () => 'ada',
    });
    const app = express().use(router).use('/a', router).use('/behind-proxy', router);
    app.use((_request, response) => void response.status(418).end());
    await using door = await listen(app);
    const statuses = async (...targets: string[]): Promise<number[]> =>
      Promise.all(targets.map(async (target) => (await door.ask(target)).status));
    expect(await statuses('/a/files/x', '/a/files', '/a/files/', '/a/files?pageSize=1')).toEqual([
      200, 200, 200, 200,
    ]);
    expect(await statuses('/behind-proxy/x', '/behind-proxy', '/behind-proxy/?pageSize=0')).toEqual([
      200, 200, 400,
    ]);
    expect(await statuses('/x', '/', '/b/files/x', '/a-files/x', '/a/filesx')).toEqual([
      418, 418, 418, 418, 418,
    ]);
  });

  verifies(KIT, 'the types are those of the contract', () => {
    expectTypeOf<FileServingConfig>().toMatchTypeOf<{ routePrefix: string; resourceStoreUri: string }>();
    expectTypeOf<(fileId: string) => Promise<FileMetadata | null>>().toExtend<
      NonNullable<FileServingConfig['getMetadata']>
    >();
    expectTypeOf<() => Promise<FileInfo[]>>().toExtend<NonNullable<FileServingConfig['getAllFiles']>>();
    expectTypeOf<FileResourceModule>().toExtend<ResourceModule>();
    expectTypeOf(createFileServingRouter).returns.toExtend<RequestHandler>();
  });
});
