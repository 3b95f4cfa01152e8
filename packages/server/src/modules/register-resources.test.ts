import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { registerResources } from './register-resources.ts';
import type { ModuleOptions } from './register-tools.ts';
import { defineResource, type ResourceModule } from './resource-module.ts';

const info = { name: 'test', version: '1.0.0' };
const eras = ['modern', 'legacy'] as const;

const factoryOf =
  (resources: readonly ResourceModule[], options: ModuleOptions = {}): (() => McpServer) =>
  () => {
    const server = new McpServer(info);
    registerResources(server, resources, {}, options);
    return server;
  };

function resource(parts: Partial<ResourceModule> = {}): ResourceModule {
  const uri = parts.template === undefined ? { uri: 'notes://index' } : {};
  return { name: 'index', description: 'All notes', ...uri, handler: () => 'text', ...parts };
}

const note = defineResource({
  name: 'note',
  description: 'One note',
  template: 'notes://{folder}/{id}{?page}',
  mimeType: 'text/markdown',
  handler: ({ uri, variables: { folder, id, page } }) => `${uri}: ${folder}, ${id}, ${page}`,
});

describe.each(eras)('resources in the %s era', (era) => {
  verifies('KIT-MODULE-1', `texts, bytes and parts are read (${era})`, async () => {
    const resources = [
      resource({ mimeType: 'text/markdown' }),
      resource({ name: 'bytes', uri: 'notes://bytes', handler: () => new Uint8Array([0, 1, 255]) }),
      resource({
        name: 'parts',
        uri: 'notes://parts',
        handler: () => [
          { text: '{}', mimeType: 'application/json' },
          { uri: 'notes://b', blob: 'AAA=' },
        ],
      }),
      resource({
        name: 'whole',
        uri: 'notes://whole',
        handler: async () => ({ contents: [{ uri: 'notes://other', text: 'x' }] }),
      }),
    ];
    await using client = await connectInMemory(factoryOf(resources), { era });
    const contents = async (uri: string): Promise<unknown> => (await client.readResource(uri)).contents;
    expect(await contents('notes://index')).toEqual([
      { uri: 'notes://index', mimeType: 'text/markdown', text: 'text' },
    ]);
    expect(await contents('notes://bytes')).toEqual([
      { uri: 'notes://bytes', mimeType: 'application/octet-stream', blob: 'AAH/' },
    ]);
    expect(await contents('notes://parts')).toEqual([
      { uri: 'notes://parts', mimeType: 'application/json', text: '{}' },
      { uri: 'notes://b', mimeType: 'application/octet-stream', blob: 'AAA=' },
    ]);
    expect(await contents('notes://whole')).toEqual([{ uri: 'notes://other', text: 'x' }]);
  });

  test('variables of a template are decoded', async () => {
    await using client = await connectInMemory(factoryOf([note]), { era });
    const { contents } = await client.readResource('notes://my%20work/a%2Fb?page=2');
    expect(contents).toEqual([
      {
        uri: 'notes://my%20work/a%2Fb?page=2',
        mimeType: 'text/markdown',
        text: 'notes://my%20work/a%2Fb?page=2: my work, a/b, 2',
      },
    ]);
  });

  test.each(['notes://none', 'notes://a/b%zz?page=1', 'not a uri', `notes://a/${'b'.repeat(4096)}?page=1`])(
    'the unknown URI %.30s is a protocol error with the code -32602',
    async (uri) => {
      await using client = await connectInMemory(factoryOf([resource(), note]), { era });
      await expect(client.readResource(uri)).rejects.toMatchObject({ code: -32602 });
    },
  );

  test('an unknown URI is quoted up to 200 characters, on one line', async () => {
    await using client = await connectInMemory(factoryOf([resource()]), { era });
    const error: unknown = await client
      .readResource(`a\n\u0007${'b'.repeat(60_000)}`)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/: a {2}b{197}…$/) as unknown,
      data: { uri: expect.stringMatching(/^a {2}b{197}…$/) as unknown },
    });
  });

  test('a handler that finds nothing answers as for an unknown URI', async () => {
    await using client = await connectInMemory(factoryOf([resource({ handler: () => undefined })]), { era });
    await expect(client.readResource('notes://index')).rejects.toMatchObject({ code: -32602 });
  });

  verifies('KIT-ERR-1', `an error of a resource reaches the client without its path (${era})`, async () => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const handler = (): never => {
      throw Object.assign(new Error('No file /home/me/canary.txt'), { code: 'ENOENT' });
    };
    const refuse = (): never => {
      throw new ProtocolError(-31999, 'Not today');
    };
    const resources = [
      resource({ handler }),
      resource({ name: 'other', uri: 'notes://other', handler: refuse }),
    ];
    await using client = await connectInMemory(factoryOf(resources, { logger }), { era });
    await expect(client.readResource('notes://index')).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('canary') as unknown,
      data: { code: 'NOT_FOUND' },
    });
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('canary.txt'));
    await expect(client.readResource('notes://other')).rejects.toMatchObject({ code: -31999 });
  });

  test('lists hold fixed resources, those that templates list, and templates', async () => {
    const listing = {
      ...note,
      list: () => [{ uri: 'notes://a/b?page=1', title: 'B' }],
    };
    const resources = [resource({ size: 4, title: 'Index' }), listing];
    await using client = await connectInMemory(factoryOf(resources), { era });
    const note1 = { name: 'note', description: 'One note', mimeType: 'text/markdown' };
    expect(await client.listResources()).toEqual([
      { uri: 'notes://index', name: 'index', title: 'Index', description: 'All notes', size: 4 },
      { uri: 'notes://a/b?page=1', title: 'B', ...note1 },
    ]);
    const { resourceTemplates } = await client.client.listResourceTemplates();
    expect(resourceTemplates).toEqual([{ uriTemplate: 'notes://{folder}/{id}{?page}', ...note1 }]);
  });

  test('variables of a template are completed', async () => {
    const complete = { id: (value: string) => ['one', 'two'].filter((id) => id.startsWith(value)) };
    await using client = await connectInMemory(factoryOf([{ ...note, complete }]), { era });
    const ref = { type: 'ref/resource', uri: 'notes://{folder}/{id}{?page}' } as const;
    const ask = async (name: string): Promise<string[]> =>
      (await client.client.complete({ ref, argument: { name, value: 't' } })).completion.values;
    expect(await ask('id')).toEqual(['two']);
    expect(await ask('folder')).toEqual([]);
    expect(await ask('toString')).toEqual([]);
    await expect(
      client.client.complete({ ref: { ...ref, uri: 'x://{y}' }, argument: { name: 'y', value: '' } }),
    ).rejects.toMatchObject({ code: -32602 });
  });
});

describe('registration of resources', () => {
  test('the types of variables come from the template', () => {
    defineResource({
      ...note,
      template: 'notes://{folder}{?page,tags*}',
      handler: ({ variables }) => {
        expectTypeOf(variables.folder).toEqualTypeOf<string>();
        expectTypeOf(variables.page).toEqualTypeOf<string | undefined>();
        expectTypeOf(variables.tags).toEqualTypeOf<readonly string[] | undefined>();
        return '';
      },
    });
    defineResource({
      name: 'files',
      description: 'Files',
      template: 'files://{+root}{/parts*}',
      handler: ({ variables }) => {
        expectTypeOf(variables.root).toEqualTypeOf<string>();
        expectTypeOf(variables.parts).toEqualTypeOf<readonly string[]>();
        // @ts-expect-error the template has no such variable
        return String(variables.other);
      },
    });
  });

  test('a resource needs either a uri or a template', () => {
    const { uri: _uri, ...neither } = resource();
    expect(factoryOf([neither])).toThrow("Resource 'index' has neither uri and template: set one of them");
    expect(factoryOf([{ ...resource(), template: 'a://{b}' }])).toThrow("'index' has both uri and template");
  });

  test('a uri without a scheme is refused', () => {
    expect(factoryOf([resource({ uri: 'index' })])).toThrow('needs a scheme');
  });

  test.each([
    ['a://{b', 'Unclosed template expression in "a://{b"'],
    ['a://{b,c}', '{b,c} has several names: give each its own braces'],
    ['a://{}', '{} has no name: names have letters, digits, "_", "-" and "." in "a://{}"'],
    ['a://}', '"}" without its "{" in "a://}"'],
  ])('the broken template %s is refused with name and reason', (template, reason) => {
    expect(factoryOf([resource({ template })])).toThrow(
      `The template of resource 'index' is not valid: ${reason}`,
    );
  });

  test('two resources with one uri are refused with both', () => {
    expect(factoryOf([resource(), resource({ name: 'other' })])).toThrow("Resources 'index' and 'other'");
  });

  test('a hint of a resource reaches clients of the modern era alone', async () => {
    const resources = [resource({ cacheHint: { ttlMs: 1000, cacheScope: 'public' } })];
    await using modern = await connectInMemory(factoryOf(resources));
    expect(await modern.readResource('notes://index')).toMatchObject({ ttlMs: 1000, cacheScope: 'public' });
    await using legacy = await connectInMemory(factoryOf(resources), { era: 'legacy' });
    expect(await legacy.readResource('notes://index')).not.toHaveProperty('ttlMs');
  });

  test.each([
    ['x://a', {}],
    ['x://a?page=2', { page: '2' }],
    ['x://a?tags=u,v&other=1&page=a%20b', { page: 'a b', tags: ['u', 'v'] }],
    ['x://a?tags=u&tags=v&from=3', { tags: ['u', 'v'], from: '3' }],
  ])('the query of %s is read in any order, with parts missing', async (uri, expected) => {
    const query = defineResource({
      name: 'query',
      description: 'Query',
      template: 'x://{id}{?page,tags*}{&from}',
      handler: ({ variables }) => JSON.stringify(variables),
    });
    await using client = await connectInMemory(factoryOf([query]));
    const [content] = (await client.readResource(uri)).contents;
    expect(JSON.parse(content !== undefined && 'text' in content ? content.text : '')).toEqual({
      id: 'a',
      ...expected,
    });
  });

  test('a list variable with thousands of members is read at once', async () => {
    const lists = defineResource({
      name: 'lists',
      description: 'Lists',
      template: 'lists://x{/id*}',
      handler: ({ variables: { id } }) => String(id.length),
    });
    await using client = await connectInMemory(factoryOf([lists]));
    const started = performance.now();
    const many = `lists://x/${'1,'.repeat(2000)}`;
    expect((await client.readResource(`${many}1`)).contents).toMatchObject([{ text: '2001' }]);
    expect((await client.readResource('lists://x/1')).contents).toMatchObject([{ text: '1' }]);
    await expect(client.readResource(`${many}/!`)).rejects.toMatchObject({ code: -32602 });
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
