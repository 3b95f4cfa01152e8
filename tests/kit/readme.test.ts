// The README of @weir/server names everything that the design of its blocks names, as it is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as blocks from '@weir/server';
import { describe, expect, test } from 'vitest';
import { signatureOf } from '../support/declarations.ts';
import { limits, provedNames } from '../support/server-readme.ts';
import { root, sourceFiles } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

const FUNCTIONS = `
  parseConfig setupStdioServer setupHttpServer setupStdioTransport createHttpMcpRouter
  createOAuthAdapters handleToolError toErrorBranch createHttpError buildAuthResponse
  registerTools registerResources registerPrompts createFileServingRouter`
  .trim()
  .split(/\s+/u);

const TYPES = `
  TransportConfig ParsedTransportConfig ParsedRedirectUrl ServerConfig Logger
  SetupStdioServerOptions SetupHttpServerOptions OAuthFactoryConfig OAuthAdapters AuthAdapter
  CachedToken ErrorBranch ToolModule ToolHandler ToolContext OutputSchemaLike ResourceModule
  PromptModule FileServingConfig FileMetadata FileInfo`
  .trim()
  .split(/\s+/u);

const PROPERTIES = 'items item columns rows values range shape select nextPageToken isEmpty'.split(' ');

const TOOLS = `
  message-search files-search message-get file-get columns-get csv-get-columns rows-get rows-append`
  .trim()
  .split(/\s+/u);

const CODES = `
  INVALID_REQUEST AUTHENTICATION_REQUIRED FORBIDDEN NOT_FOUND RATE_LIMITED SERVICE_ERROR`
  .trim()
  .split(/\s+/u);

const sources = sourceFiles('packages/server/src', /^(?!.*\.(?:test|case)\.).*\.ts$/u);

describe('the tables of the README', () => {
  verifies('KIT-SCOPE-1', 'every name of the design has a row with its test', () => {
    const names = [...FUNCTIONS, ...TYPES, ...PROPERTIES, ...TOOLS, ...CODES];
    expect(provedNames.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  test('the test of each name exists and names it', () => {
    const isNamed = ({ name, test }: { name: string; test: string }): boolean =>
      new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`, 'u').test(readFileSync(join(root, test), 'utf8'));
    expect(provedNames.filter((row) => !isNamed(row))).toEqual([]);
  });

  verifies('KIT-SCOPE-1', 'the root exports every function of the design', () => {
    const exported = Object.keys(blocks);
    expect([...FUNCTIONS, ...PROPERTIES].filter((name) => !exported.includes(name))).toEqual([]);
  });

  test('each signature is that of the source', () => {
    const declared = provedNames.filter(({ name }) => [...FUNCTIONS, ...TYPES, ...PROPERTIES].includes(name));
    expect(declared.map(({ name, signature }) => [name, signature])).toEqual(
      declared.map(({ name }) => [name, signatureOf(name)]),
    );
  });
});

describe('the limits in the README', () => {
  test.each(limits)('the limit of $options is that of the source', ({ value, options }) => {
    const docs = options.flatMap((option) => docsOf(option)).join('\n');
    const numbers = Array.from(value.matchAll(/\d+(?: (?:[KMG]iB|s|minutes))?/gu), ([number]) => number);
    expect(numbers.filter((number) => !docs.includes(number))).toEqual([]);
  });

  test('the table has a row for each kind', () => {
    expect(limits.length).toBeGreaterThan(8);
  });
});

describe('the modules of the package', () => {
  verifies('KIT-SCOPE-1', 'no module keeps state', () => {
    // A WeakMap is a memo for an object of the caller; a constant Set or Map is a table.
    const state =
      /^(?:export )?(?:let|var) |^(?:export )?const \w+(?:: [^=]+)? = (?:new Map\(\)|new Set\(\)|new Map<[^()]*>\(\)|new Set<[^()]*>\(\)|\[\]|\{\});/mu;
    expect(sources.filter(({ text }) => state.test(text)).map(({ path }) => path)).toEqual([]);
    expect(state.test('const sessions = new Map<string, Session>();')).toBe(true);
    expect(state.test('let last: string;')).toBe(true);
  });

  verifies('KIT-SCOPE-1', 'the root exports functions, subclasses of Error, and nothing else', () => {
    const isFit = (value: unknown): boolean =>
      typeof value === 'function' && (!String(value).startsWith('class') || value.prototype instanceof Error);
    const exported = Object.entries(blocks);
    expect(exported.filter(([, value]) => !isFit(value)).map(([name]) => name)).toEqual([]);
    expect(exported.length).toBeGreaterThan(FUNCTIONS.length);
  });

  verifies(
    'KIT-SCOPE-1',
    'no module reads the arguments, the environment or the console of the process',
    () => {
      const reads = /\bprocess\.(?:env|argv)\b|^\s*console\./mu;
      const readers = sources.filter(({ text }) => reads.test(text.replaceAll(/^\s*(?:\*|\/\/).*$/gmu, '')));
      expect(reads.test('const { PORT } = process.env;')).toBe(true);
      expect(readers.map(({ path }) => path)).toEqual([]);
    },
  );

  verifies('KIT-SCOPE-1', 'optional packages are imported by import() or as types alone', () => {
    const loads = /^import (?!type\b)[^;]*from '(?:express|openid-client|@modelcontextprotocol\/client)/mu;
    expect(loads.test("import express from 'express';")).toBe(true);
    expect(sources.filter(({ text }) => loads.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

/** Returns the comments of an option, or the line that gives it a default. */
function docsOf(option: string): string[] {
  const comment = new RegExp(String.raw`/\*\*((?:(?!\*/).)*)\*/\s+readonly ${option}\??:`, 'gsu');
  const byDefault = new RegExp(String.raw`${option} = (\w+)`, 'gu');
  return sources.flatMap(({ text }) => [
    ...Array.from(text.matchAll(comment), ([, doc = '']) => doc),
    ...Array.from(
      text.matchAll(byDefault),
      ([, name = '']) => new RegExp(`const ${name} = .*`, 'u').exec(text)?.[0] ?? '',
    ),
  ]);
}
