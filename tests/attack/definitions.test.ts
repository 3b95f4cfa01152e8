// Definitions that clients refuse: one of them hides neither its siblings nor the lists of other servers.
import { describe, expect } from 'vitest';
import { commandFor, connectSdk, scripted, textOf, type Json, type ServerEntry } from '../support/harness.ts';
import { open, serveInProcess } from '../support/in-process.ts';
import { itemsOf } from '../support/line-client.ts';
import { serveHttp, toolServer } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

const SCHEMA = { type: 'object' };

/** Tools of which each alone makes the SDK's clients drop the list that it is in. */
const TOOLS: readonly Json[] = [
  { name: 'no-schema' },
  { name: 'array', inputSchema: { type: 'array' } },
  { name: 'number', description: 5, inputSchema: SCHEMA },
  { name: 'null', title: null, inputSchema: SCHEMA },
  { name: 'required', inputSchema: { type: 'object', required: 'a' } },
  { name: 'icons', icons: 'a', inputSchema: SCHEMA },
  { name: 'output', inputSchema: SCHEMA, outputSchema: { type: 'string' } },
  { name: 'hints', inputSchema: SCHEMA, annotations: { readOnlyHint: 'yes', title: null } },
  { name: '', inputSchema: SCHEMA },
];
const LISTS = {
  tools: [...TOOLS, { name: 'fine', inputSchema: SCHEMA }],
  prompts: [{ name: 'bad', arguments: 'x' }, { name: 'null', description: null }, { name: 'fine' }],
  resources: [
    { uri: 'test://size', name: 'size', size: 'big' },
    { uri: 'test://nameless' },
    { uri: 'test://fine', name: 'fine' },
  ],
  resourceTemplates: [
    { uriTemplate: 'test://{name}', name: 3 },
    { uriTemplate: 'test://{fine}', name: 'fine' },
  ],
};

/** A server with these lists, which answers a call of any tool. */
function lister(lists: Partial<Record<keyof typeof LISTS, readonly Json[]>> = LISTS): ServerEntry {
  const methods = {
    'tools/list': { tools: lists.tools ?? [] },
    'prompts/list': { prompts: lists.prompts ?? [] },
    'resources/list': { resources: lists.resources ?? [] },
    'resources/templates/list': { resourceTemplates: lists.resourceTemplates ?? [] },
  };
  return scripted(`
    import { serve, text } from 'stdio';
    const lists = ${JSON.stringify(methods)};
    const on = Object.fromEntries(Object.entries(lists).map(([method, list]) => [method, () => list]));
    serve({
      name: 'lister',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      on: { ...on, 'tools/call': ({ name }) => text('called ' + name) },
    });`);
}

const good = (): ServerEntry => lister({ tools: [{ name: 'fine', inputSchema: SCHEMA }] });

describe('definitions that clients refuse', () => {
  for (const era of ['legacy', 'modern'] as const)
    verifies(
      ['AGG-CALL-1', 'SAFE-4'],
      `23: invalid definitions hide no others from the SDK's ${era} client`,
      async () => {
        await using sdk = await connectSdk(commandFor({ bad: lister(), good: good() }), era);
        const names = async <T>(list: Promise<T>, key: keyof T): Promise<unknown[]> =>
          ((await list)[key] as { name: string }[]).map(({ name }) => name);
        expect(await names(sdk.client.listTools(), 'tools')).toEqual([
          ...['no-schema', 'number', 'null', 'required', 'icons', 'output', 'hints', 'fine'].map(
            (name) => `bad:${name}`,
          ),
          'good:fine',
        ]);
        expect(await names(sdk.client.listPrompts(), 'prompts')).toEqual(['bad:bad', 'bad:null', 'bad:fine']);
        expect(await names(sdk.client.listResources(), 'resources')).toEqual([
          'size',
          'test://nameless',
          'fine',
        ]);
        expect(await names(sdk.client.listResourceTemplates(), 'resourceTemplates')).toEqual(['fine']);
      },
    );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    '23: the log names invalid definitions with the reason, and their tools can be called',
    async () => {
      await using weir = serveInProcess({ bad: lister(), good: good() });
      await weir.tools();
      const log = weir.logged.join('\n');
      for (const text of [
        '[bad] tool "array" is left out, because clients would drop the whole list: its inputSchema.type is not "object"',
        '[bad] tool "required" is listed in another form, because clients would drop the whole list: its inputSchema.required is not an array',
        '[bad] lists 1 of its tools without a name; they are left out',
        '[bad] tool "number" is listed in another form, because clients would drop the whole list: its description is not a string',
        '[bad] tool "no-schema" is listed in another form, because clients would drop the whole list: it has no inputSchema',
        '[bad] template "test://{name}" is left out, because clients would drop the whole list: its name is not a string',
      ])
        expect(log).toContain(text);
      expect(log).not.toContain('tool "null"');
      expect(textOf(await weir.callTool('bad:number'))).toBe('called number');
      expect(textOf(await weir.callTool('good:fine'))).toBe('called fine');
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    '23: the log names ten of many invalid definitions, and counts the others',
    async () => {
      const tools = Array.from({ length: 1000 }, (_, i) => ({ name: `t${i}`, inputSchema: 5 }));
      await using weir = serveInProcess({ bad: lister({ tools }), good: good() });
      expect(await weir.tools()).toEqual(['good:fine']);
      const warnings = weir.logged.filter((line) => line.startsWith('warn [bad]'));
      expect(warnings).toHaveLength(11);
      expect(warnings.at(-1)).toContain('990 more of its tools are left out or changed for such reasons');
    },
  );

  verifies(
    ['AGG-CALL-1', 'ERA-1', 'SAFE-4'],
    '23: legacy clients get definitions without the modern-only parts',
    async () => {
      const outputSchema = { type: 'array', items: {} };
      const tools = [{ name: 'list', outputSchema, inputSchema: SCHEMA }];
      await using server = await serveHttp(toolServer('modern', () => {}, tools));
      for (const [era, seen] of [
        ['modern', outputSchema],
        ['legacy', undefined],
      ] as const) {
        await using weir = serveInProcess({ r: { url: server.url } });
        const ask = await open(weir, era);
        const [tool] = itemsOf<Json>(await ask('tools/list'), 'tools');
        expect(tool).toEqual({ name: 'r:list', inputSchema: SCHEMA, ...(seen && { outputSchema: seen }) });
      }
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    '30: the gateway removes icons that would run code or read files',
    async () => {
      const icon = (src: string): Json => ({ name: src, inputSchema: SCHEMA, icons: [{ src }] });
      const safe = ['https://example.com/i.png', 'data:image/png;base64,AA=='];
      const unsafe = ['javascript:alert(1)', ' JavaScript:alert(1)', 'file:///etc/passwd', 'vbscript:x'];
      await using weir = serveInProcess({ s: lister({ tools: [...safe, ...unsafe].map(icon) }) });
      await weir.initialize();
      const tools = itemsOf<{ name: string; icons?: { src: string }[] }>(
        await weir.request('tools/list'),
        'tools',
      );
      expect(tools.map(({ icons }) => icons?.map(({ src }) => src))).toEqual([
        ...safe.map((src) => [src]),
        ...unsafe.map(() => undefined),
      ]);
    },
  );
});
