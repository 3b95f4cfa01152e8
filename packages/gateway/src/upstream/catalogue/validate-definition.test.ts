// The validation against the schemas of the SDK's clients: they accept every definition that passes.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { Era } from '../../protocol/eras.ts';
import { ALL_KINDS, KINDS, type Kind, type Listed } from './catalogue.ts';
import { SHAPES } from './definition-shapes.ts';
import { readItem } from './read-list.ts';
import { judgeDefinition, type Judged } from './validate-definition.ts';

interface ResultSchema {
  safeParse(value: unknown): { readonly success: boolean };
}

const require = createRequire(import.meta.url);
const requireOfClient = createRequire(require.resolve('@modelcontextprotocol/client'));
/** The first generation of the SDK is installed with the servers of the tests, the second with its client. */
const SDKS: Readonly<Record<Era, Record<string, ResultSchema>>> = {
  legacy: require(['@modelcontextprotocol', 'sdk', 'types.js'].join('/')) as Record<string, ResultSchema>,
  modern: requireOfClient('@modelcontextprotocol/core') as Record<string, ResultSchema>,
};
const RESULTS: Readonly<Record<Kind, string>> = {
  tools: 'ListToolsResultSchema',
  prompts: 'ListPromptsResultSchema',
  resources: 'ListResourcesResultSchema',
  templates: 'ListResourceTemplatesResultSchema',
};

function isTaken(kind: Kind, definition: Buffer, sdk: Era): boolean {
  const schema = SDKS[sdk][RESULTS[kind]];
  assert.ok(schema);
  return schema.safeParse({ [KINDS[kind].list]: [JSON.parse(definition.toString())] }).success;
}

function judged(kind: Kind, definition: string, era: Era = 'legacy'): Judged {
  return judgeDefinition(readItem(Buffer.from(definition), KINDS[kind].key) as Listed, SHAPES[kind][era]);
}

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, 5, -1, 0.5, '', 'x', 'object', true, [], {}, [1], ['x'], [null], {
    type: 'object',
  }),
  fc.jsonValue({ maxDepth: 2 }),
);
/** A usual value or, now and then, an odd one. */
const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: odd });
/** An object of which each member may be missing or odd. */
const object = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.record(Object.fromEntries(Object.entries(members).map(([key, usual]) => [key, mostly(usual)])), {
    requiredKeys: [],
  });

const text = fc.constantFrom('a', 'ü "quoted"', '');
const texts = fc.array(mostly(text), { maxLength: 2 });
const bool = fc.boolean();
const icons = fc.array(
  mostly(
    object({
      src: fc.constantFrom('https://x/i.png', 'data:,', 'HTTP://x', 'javascript:x', 'file:///x', ''),
      mimeType: text,
      sizes: texts,
      theme: fc.constantFrom('light', 'dark', 'grey'),
    }),
  ),
  { maxLength: 2 },
);
const schema = object({
  type: fc.constantFrom('object', 'object', 'object', 'array'),
  properties: fc.dictionary(text, mostly(fc.constantFrom<unknown>({}, { type: 'string' }, { maximum: 1 }))),
  required: texts,
  $schema: text,
});
const annotations = object({
  audience: fc.array(fc.constantFrom('user', 'assistant', 'nobody'), { maxLength: 2 }),
  priority: fc.constantFrom(0, 1, 0.5, 2, -1),
  lastModified: fc.constantFrom(
    '2026-07-28T12:00:00Z',
    '2026-07-28T12:00:00.123+02:00',
    '2024-02-29T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-07-28T24:00:00Z',
    '2026-07-28',
    'yesterday',
  ),
});
const common = { title: text, description: text, icons, _meta: fc.constantFrom<unknown>({}, { a: null }) };
const MEMBERS: Readonly<Record<Kind, Record<string, fc.Arbitrary<unknown>>>> = {
  tools: {
    ...common,
    inputSchema: schema,
    outputSchema: schema,
    annotations: object({
      title: text,
      readOnlyHint: bool,
      destructiveHint: bool,
      idempotentHint: bool,
      openWorldHint: bool,
    }),
    execution: object({ taskSupport: fc.constantFrom('required', 'optional', 'forbidden', 'sometimes') }),
  },
  prompts: {
    ...common,
    arguments: fc.array(mostly(object({ name: text, description: text, required: bool })), { maxLength: 3 }),
  },
  resources: { ...common, name: text, mimeType: text, size: fc.constantFrom(1, 1.5), annotations },
  templates: { ...common, name: text, mimeType: text, annotations },
};

/** SDKs whose clients get the definitions of a server as they are. */
const READERS: Readonly<Record<Era, readonly Era[]>> = { legacy: ['legacy', 'modern'], modern: ['modern'] };

for (const kind of ALL_KINDS)
  for (const era of ['legacy', 'modern'] as const)
    verifies(
      'AGG-CALL-1',
      `the SDK's clients accept the ${kind} of a ${era} server that pass judgeDefinition`,
      () => {
        const fates = new Map<string, number>();
        fc.assert(
          fc.property(object(MEMBERS[kind]), (members) => {
            const definition = JSON.stringify({ [KINDS[kind].key]: 'it', ...(members as object) });
            const outcome = judged(kind, definition, era);
            fates.set(outcome.fate, (fates.get(outcome.fate) ?? 0) + 1);
            const bytes = outcome.fate === 'changed' ? outcome.definition : Buffer.from(definition);
            // A definition that is left out would be refused.
            if (outcome.fate === 'left-out') assert.ok(!isTaken(kind, bytes, 'legacy'));
            else for (const sdk of READERS[era]) assert.ok(isTaken(kind, bytes, sdk));
          }),
          { numRuns: 2000 },
        );
        expect(fates.get('kept')).toBeGreaterThan(50);
        expect(fates.get('changed')).toBeGreaterThan(50);
      },
    );

const SCHEMA = '"inputSchema":{"type":"object"}';

describe('the definition of a tool', () => {
  test.each([
    ['{"name":"a","inputSchema":{"type":"array"}}', 'its inputSchema.type is not "object"'],
    ['{"name":"a","inputSchema":"x"}', 'its inputSchema is not an object'],
    [
      '{"name":"a","inputSchema":{"type":"object","x":1,"type":"array"}}',
      'its inputSchema.type is not "object"',
    ],
    [`{"name":"a",${SCHEMA},"x":${'['.repeat(200)}${']'.repeat(200)}}`, 'it is nested too deep'],
    [`{"name":"a",${SCHEMA},"x":"${'x'.repeat(2 ** 20)}"}`, 'it is larger than 1048576 bytes'],
    [
      `{"name":"a",${SCHEMA},"annotations":{"title":"x","title":5}}`,
      'a key in it is written twice or with escapes, beside members that clients refuse',
    ],
  ])('judgeDefinition leaves out the tool %.60s', (definition, fault) => {
    expect(judged('tools', definition)).toEqual({ fate: 'left-out', faults: [fault] });
  });

  test.each([
    ['{"name":"a"}', `{${SCHEMA},"name":"a"}`, ['it has no inputSchema']],
    ['{"name":"a","inputSchema":null}', `{${SCHEMA},"name":"a"}`, ['it has no inputSchema']],
    ['{"name":"a","inputSchema":{}}', `{"name":"a",${SCHEMA}}`, ['it has no inputSchema.type']],
    [
      '{"name":"a","inputSchema":{"properties":{"n":{"maximum":12345678901234567890}}}}',
      '{"name":"a","inputSchema":{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}}',
      ['it has no inputSchema.type'],
    ],
    [`{"name":"a",${SCHEMA},"title":null,"x":1.0}`, `{"name":"a",${SCHEMA},"x":1.0}`, []],
    [
      `{"name":"a", "description":5, ${SCHEMA}}`,
      `{"name":"a",${SCHEMA}}`,
      ['its description is not a string'],
    ],
    [
      `{${SCHEMA},"name":"a","icons":[{"src":"javascript:alert(1)"}]}`,
      `{${SCHEMA},"name":"a"}`,
      ['its icons[0].src is not an http, https or data address'],
    ],
    [
      `{${SCHEMA},"name":"a","annotations":{"title":null,"readOnlyHint":true,"idempotentHint":"yes"}}`,
      `{${SCHEMA},"name":"a","annotations":{"readOnlyHint":true}}`,
      ['its annotations.idempotentHint is not a boolean'],
    ],
    [
      `{${SCHEMA},"name":"a","outputSchema":{"type":"string"}}`,
      `{${SCHEMA},"name":"a"}`,
      ['its outputSchema.type is not "object"'],
    ],
  ])('judgeDefinition changes the tool %s', (definition, changed, faults) => {
    const outcome = judged('tools', definition);
    expect(outcome).toMatchObject({ fate: 'changed', faults });
    expect(outcome.fate === 'changed' && outcome.definition.toString()).toBe(changed);
  });

  test('judgeDefinition accepts any output schema of a modern server', () => {
    const definition = `{"name":"a",${SCHEMA},"outputSchema":{"type":"array"}}`;
    expect(judged('tools', definition, 'modern').fate).toBe('kept');
  });
});

test('judgeDefinition removes null members from the arguments of a prompt', () => {
  const outcome = judged(
    'prompts',
    '{"name":"p","arguments":[{"name":"a"},{"name":"b","description":null,"x":1}]}',
  );
  expect(outcome.fate === 'changed' && outcome.definition.toString()).toBe(
    '{"name":"p","arguments":[{"name":"a"},{"name":"b","x":1}]}',
  );
});

test('judgeDefinition leaves out a prompt with more than 100 faults', () => {
  const argument = '{"name":"a","description":null}';
  const definition = `{"name":"p","arguments":[${Array.from({ length: 101 }, () => argument).join(',')}]}`;
  expect(judged('prompts', definition)).toEqual({
    fate: 'left-out',
    faults: ['it has too many members that clients refuse'],
  });
});

test('judgeDefinition names a resource without a name by its URI', () => {
  const outcome = judged('resources', '{"uri":"test:\\/\\/a"}');
  expect(outcome.fate === 'changed' && outcome.definition.toString()).toBe(
    '{"name":"test:\\/\\/a","uri":"test:\\/\\/a"}',
  );
});
