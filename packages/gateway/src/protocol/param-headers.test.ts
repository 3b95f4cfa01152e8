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

describe('parameter headers of a tool', () => {
  verifies('ERA-5', 'readParameterHeaders finds annotated properties at any depth', () => {
    expect(readParameterHeaders(SQL)).toEqual([
      { header: 'Mcp-Param-Region', path: ['region'], type: 'string' },
      { header: 'Mcp-Param-Limit', path: ['limit'], type: 'integer' },
      { header: 'Mcp-Param-Dry-Run', path: ['options', 'dry'], type: 'boolean' },
    ]);
    expect(mayHaveParameterHeaders(SQL)).toBe(true);
    expect(mayHaveParameterHeaders(tool({ type: 'object' }))).toBe(false);
  });

  test('readParameterHeaders ignores a property named x-mcp-header and default values', () => {
    const definition = tool({
      properties: { 'x-mcp-header': { type: 'string', default: { 'x-mcp-header': 'no' } } },
    });
    expect(readParameterHeaders(definition)).toEqual([]);
  });

  const marked = { type: 'string', 'x-mcp-header': 'A' };
  test.each([
    ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
    ['a name that is not a string', { properties: { a: { type: 'string', 'x-mcp-header': 1 } } }],
    ['a name with a space', { properties: { a: { type: 'string', 'x-mcp-header': 'My Region' } } }],
    ['a name with a line break', { properties: { a: { type: 'string', 'x-mcp-header': 'A\r\nB' } } }],
    ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
    ['an object', { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }],
    ['no type', { properties: { a: { 'x-mcp-header': 'A' } } }],
    ['two properties with one name', { properties: { a: marked, b: { ...marked, 'x-mcp-header': 'a' } } }],
    ['the whole of the arguments', marked],
    ['elements', { properties: { a: { type: 'array', items: marked } } }],
    ['a choice', { properties: { a: { anyOf: [marked, { type: 'null' }] } } }],
    ['a condition', { if: { properties: { a: marked } } }],
    ['definitions', { $defs: { a: marked }, properties: { a: { $ref: '#/$defs/a' } } }],
    ['keywords of any name', { properties: { a: { 'x-own': { deep: marked } } } }],
  ])('readParameterHeaders rejects the annotation of %s', (_, schema) => {
    expect(() => readParameterHeaders(tool(schema))).toThrow(InvalidAnnotation);
  });

  test('readParameterHeaders rejects a definition deeper than 64 levels', () => {
    let schema: unknown = marked;
    for (let depth = 0; depth < 200; depth++) schema = { properties: { a: schema } };
    expect(() => readParameterHeaders(tool(schema))).toThrow(/64 levels/);
  });
});

describe('parameter headers of a call', () => {
  const wanted = readParameterHeaders(SQL);

  verifies('ERA-5', 'parameterHeaders repeats arguments as strings and leaves out missing ones', () => {
    expect(parameterHeaders(wanted, { region: 'us-west1', limit: -7, options: { dry: true } })).toEqual({
      'Mcp-Param-Region': 'us-west1',
      'Mcp-Param-Limit': '-7',
      'Mcp-Param-Dry-Run': 'true',
    });
    expect(parameterHeaders(wanted, { region: null, options: [] })).toEqual({});
    expect(parameterHeaders(wanted, undefined)).toEqual({});
    expect(parameterHeaders(wanted, { region: ['us'], limit: 2 ** 60 })).toEqual({});
  });

  test('parameterHeaders ignores inherited properties of the arguments', () => {
    expect(
      parameterHeaders([{ header: 'Mcp-Param-A', path: ['constructor', 'name'], type: 'string' }], {}),
    ).toEqual({});
  });

  verifies('ERA-5', 'parameterMismatch reports a header that differs from its argument', () => {
    const args = { region: 'us-west1', limit: 42, options: { dry: false } };
    const right = { 'mcp-param-region': 'us-west1', 'mcp-param-limit': '42.0', 'mcp-param-dry-run': 'false' };
    const check = (headers: Record<string, string>): string | undefined =>
      parameterMismatch(wanted, args, (name) => headers[name]);
    expect(check(right)).toBeUndefined();
    expect(check({ ...right, 'mcp-param-region': 'eu' })).toContain('Mcp-Param-Region differs from');
    expect(check({ ...right, 'mcp-param-limit': '0x2a' })).toContain('Mcp-Param-Limit differs from');
    expect(check({ ...right, 'mcp-param-region': '=?base64?dXMtd2VzdD?=' })).toContain('is not encoded');
    expect(check({ 'mcp-param-region': 'us-west1', 'mcp-param-limit': '42' })).toContain(
      'Mcp-Param-Dry-Run is missing',
    );
    expect(parameterMismatch(wanted, {}, () => undefined)).toBeUndefined();
  });
});

describe('header values', () => {
  test.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['', '=?base64??='],
    ['a\tb', 'a\tb'],
  ])('encodeHeaderValue and decodeHeaderValue convert %j', (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  verifies('ERA-5', 'decodeHeaderValue returns every text that encodeHeaderValue encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const value = encodeHeaderValue(text);
        expect(value).toMatch(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/);
        expect(decodeHeaderValue(value)).toBe(text);
      }),
    );
  });

  test.each(['=?base64?a?=', '=?base64?YQ?=', '=?base64?YQ= =?=', '=?base64?/w==?=', 'caf\u00e9'])(
    'decodeHeaderValue rejects %j',
    (value) => expect(decodeHeaderValue(value)).toBeUndefined(),
  );
});
