import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  InvalidAnnotation,
  mayHaveParameterHeaders,
  parameterHeaders,
  parameterMismatch,
  readParameterHeaders,
} from './param-headers.ts';

function tool(inputSchema: unknown): Buffer {
  return Buffer.from(JSON.stringify({ name: 'sql', inputSchema }));
}

const SQL = tool({
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    limit: { type: 'integer', 'x-mcp-header': 'Limit' },
    options: {
      type: 'object',
      properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' } },
    },
    query: { type: 'string' },
  },
});

describe('the arguments that a tool wants in headers', () => {
  verifies('ERA-5', 'are found wherever properties lead to them', () => {
    expect(readParameterHeaders(SQL)).toEqual([
      { header: 'Mcp-Param-Region', path: ['region'], type: 'string' },
      { header: 'Mcp-Param-Limit', path: ['limit'], type: 'integer' },
      { header: 'Mcp-Param-Dry-Run', path: ['options', 'dry'], type: 'boolean' },
    ]);
    expect(mayHaveParameterHeaders(SQL)).toBe(true);
    expect(mayHaveParameterHeaders(tool({ type: 'object' }))).toBe(false);
  });

  test('a property may have the name of the mark, and data may look like a schema', () => {
    const definition = tool({
      properties: { 'x-mcp-header': { type: 'string', default: { 'x-mcp-header': 'no' } } },
    });
    expect(readParameterHeaders(definition)).toEqual([]);
  });

  const marked = { type: 'string', 'x-mcp-header': 'A' };
  test.each([
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a name that is no text', { properties: { a: { type: 'string', 'x-mcp-header': 1 } } }],
    ['a name with a space', { properties: { a: { type: 'string', 'x-mcp-header': 'My Region' } } }],
    ['a name with a line break', { properties: { a: { type: 'string', 'x-mcp-header': 'A\r\nB' } } }],
    ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
    ['two of one name', { properties: { a: marked, b: { ...marked, 'x-mcp-header': 'a' } } }],
    ['the whole of the arguments', marked],
    ['elements', { properties: { a: { type: 'array', items: marked } } }],
    ['a choice', { properties: { a: { anyOf: [marked, { type: 'null' }] } } }],
    ['a condition', { if: { properties: { a: marked } } }],
    ['definitions', { $defs: { a: marked }, properties: { a: { $ref: '#/$defs/a' } } }],
    ['keywords of any name', { properties: { a: { 'x-own': { deep: marked } } } }],
  ])('%s cannot have one', (_, schema) => {
    expect(() => readParameterHeaders(tool(schema))).toThrow(InvalidAnnotation);
  });

  test('a definition that is too deep is refused, not followed', () => {
    let schema: unknown = marked;
    for (let depth = 0; depth < 200; depth++) schema = { properties: { a: schema } };
    expect(() => readParameterHeaders(tool(schema))).toThrow(/64 levels/);
  });
});

describe('the headers of a call', () => {
  const wanted = readParameterHeaders(SQL);

  verifies('ERA-5', 'repeat the arguments as texts, and leave out what is not there', () => {
    expect(parameterHeaders(wanted, { region: 'us-west1', limit: -7, options: { dry: true } })).toEqual({
      'Mcp-Param-Region': 'us-west1',
      'Mcp-Param-Limit': '-7',
      'Mcp-Param-Dry-Run': 'true',
    });
    expect(parameterHeaders(wanted, { region: null, options: [] })).toEqual({});
    expect(parameterHeaders(wanted, undefined)).toEqual({});
    expect(parameterHeaders(wanted, { region: ['us'], limit: 2 ** 60 })).toEqual({});
  });

  test('what only looks like an argument is none', () => {
    expect(
      parameterHeaders([{ header: 'Mcp-Param-A', path: ['constructor', 'name'], type: 'string' }], {}),
    ).toEqual({});
  });

  verifies('ERA-5', 'a header that says something else is found', () => {
    const args = { region: 'us-west1', limit: 42, options: { dry: false } };
    const right = { 'mcp-param-region': 'us-west1', 'mcp-param-limit': '42.0', 'mcp-param-dry-run': 'false' };
    const check = (headers: Record<string, string>): string | undefined =>
      parameterMismatch(wanted, args, (name) => headers[name]);
    expect(check(right)).toBeUndefined();
    expect(check({ ...right, 'mcp-param-region': 'eu' })).toContain('Mcp-Param-Region says something other');
    expect(check({ ...right, 'mcp-param-limit': '0x2a' })).toContain('Mcp-Param-Limit says something other');
    expect(check({ ...right, 'mcp-param-region': '=?base64?dXMtd2VzdD?=' })).toContain('is not encoded');
    expect(check({ 'mcp-param-region': 'us-west1', 'mcp-param-limit': '42' })).toContain(
      'Mcp-Param-Dry-Run is missing',
    );
    expect(parameterMismatch(wanted, {}, () => undefined)).toBeUndefined();
  });
});

describe('values in headers', () => {
  test.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['', '=?base64??='],
    ['a\tb', 'a\tb'],
  ])('%j', (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  verifies('ERA-5', 'every text comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const value = encodeHeaderValue(text);
        expect(value).toMatch(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/);
        expect(decodeHeaderValue(value)).toBe(text);
      }),
    );
  });

  test.each(['=?base64?a?=', '=?base64?YQ?=', '=?base64?YQ= =?=', '=?base64?/w==?=', 'caf\u00e9'])(
    '%j is no value',
    (value) => expect(decodeHeaderValue(value)).toBeUndefined(),
  );
});
