// The tools that the product ships speak one vocabulary: seed 004's table of output properties and its table of names.
// The gateway's own search tools keep the names that other gateways use.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerFactory } from '@weir/server';
import { connectInMemory } from '@weir/server/testing';
import { describe, expect, test } from 'vitest';
import { connectSdk } from '../support/harness.ts';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

interface ListedTool {
  readonly name: string;
  readonly outputSchema?: JsonSchema | undefined;
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
}

// A name's pattern, and the properties of which each output of such a tool has one.
const NAMES: readonly { readonly pattern: RegExp; readonly main: readonly string[] }[] = [
  { pattern: /^(?:[a-z]+-)*(?:columns-get|get-columns)$/, main: ['columns'] },
  { pattern: /^(?:[a-z]+-)*rows-(?:get|append)$/, main: ['rows', 'values'] },
  { pattern: /^(?:[a-z]+-)+(?:search|list)$/, main: ['items', 'rows', 'values'] },
  { pattern: /^(?:[a-z]+-)+(?:get|append)$/, main: ['item'] },
];

const COMPANIONS = ['type', 'nextPageToken', 'isEmpty', 'range', 'select', 'shape'];
const SUCCESS = ['items', 'item', 'columns', 'rows', 'values', ...COMPANIONS];
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  success: SUCCESS,
  error: ['type', 'message', 'code'],
  auth_required: ['type', 'authUrl', 'message'],
};

describe('the vocabulary of shipped tools', () => {
  const servers = readdirSync(join(root, 'examples', 'servers'));

  verifies('KIT-MODULE-1', 'the tools of the demo servers keep to both tables', async () => {
    const lists = await Promise.all(servers.map((file) => toolsOfProcess(file)));
    expect(lists.map((tools) => tools.length > 0)).toEqual([true, true, true]);
    expect(lists.flat().flatMap(breaches)).toEqual([]);
  });

  verifies('KIT-MODULE-1', 'the tools of a server that weir new writes keep to both tables', async () => {
    const file = pathToFileURL(join(root, 'packages', 'cli', 'template', 'src', 'server.ts')).href;
    const { createServer } = (await import(file)) as { createServer: ServerFactory };
    await using client = await connectInMemory(createServer);
    const tools = (await client.listTools()) as ListedTool[];
    expect(tools).not.toEqual([]);
    expect(tools.flatMap(breaches)).toEqual([]);
  });

  const output = (properties: JsonSchema['properties'] = {}): JsonSchema => ({
    properties: { type: { const: 'success' }, ...properties },
  });

  test.each<[string, ListedTool]>([
    ['a name of no kind', { name: 'roll', outputSchema: output({ item: {} }) }],
    ['a name in another case', { name: 'Note-get', outputSchema: output({ item: {} }) }],
    ['a kind without a resource', { name: 'search', outputSchema: output({ items: {} }) }],
    ['a tool without an output schema', { name: 'note-get' }],
    ['a property of its own', { name: 'note-get', outputSchema: output({ item: {}, note: {} }) }],
    ['a search without items', { name: 'note-search', outputSchema: output({ item: {} }) }],
    ['a get with items', { name: 'note-get', outputSchema: output({ items: {} }) }],
    ['columns from another name', { name: 'table-get', outputSchema: output({ columns: {} }) }],
    ['rows that are named values', { name: 'columns-get', outputSchema: output({ values: {} }) }],
    ['an output without a type', { name: 'note-get', outputSchema: { properties: { item: {} } } }],
    [
      'a property in one branch',
      {
        name: 'note-search',
        outputSchema: { oneOf: [output({ items: {} }), output({ items: {}, notes: {} })] },
      },
    ],
  ])('the check of the vocabulary finds %s', (_what, tool) => {
    expect(breaches(tool)).toHaveLength(1);
  });

  test('the check of the vocabulary accepts names and branches of the tables', () => {
    const failed = { properties: { type: { const: 'error' }, message: {}, code: {} } };
    const objects = output({ items: {}, shape: { const: 'objects' } });
    const arrays = output({ columns: {}, rows: {}, shape: { const: 'arrays' } });
    const tools: ListedTool[] = [
      { name: 'message-search', outputSchema: { oneOf: [objects, arrays, failed] } },
      { name: 'csv-get-columns', outputSchema: output({ columns: {}, isEmpty: {} }) },
      { name: 'rows-append', outputSchema: output({ rows: {}, range: {} }) },
    ];
    expect(tools.flatMap(breaches)).toEqual([]);
  });
});

async function toolsOfProcess(file: string): Promise<ListedTool[]> {
  const args = [join(root, 'examples', 'servers', file)];
  await using sdk = await connectSdk({ command: process.execPath, args, env: {} }, 'modern');
  return (await sdk.client.listTools()).tools as ListedTool[];
}

/** Lists how a tool leaves the two tables. */
function breaches({ name, outputSchema }: ListedTool): string[] {
  const kind = NAMES.find(({ pattern }) => pattern.test(name));
  if (kind === undefined) return [`${name} is a name outside the table`];
  if (outputSchema === undefined) return [`${name} has no output schema`];
  return branchesOf(outputSchema).flatMap((branch) => breachesOfBranch(name, kind.main, branch));
}

function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.oneOf ?? schema.anyOf)?.flatMap(branchesOf) ?? [schema];
}

function breachesOfBranch(name: string, main: readonly string[], { properties = {} }: JsonSchema): string[] {
  const type = String(properties['type']?.const);
  const allowed = PROPERTIES[type];
  if (allowed === undefined) return [`${name} has an output whose type is ${type}`];
  const foreign = Object.keys(properties).filter((property) => !allowed.includes(property));
  if (foreign.length > 0) return [`${name} has outputs outside the table: ${foreign.join(', ')}`];
  const isComplete = type !== 'success' || main.some((property) => property in properties);
  return isComplete ? [] : [`${name} has no ${main.join(', ')}`];
}
