import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { ConfigError } from '../errors.ts';
import { describeConfigError } from './describe-error.ts';
import { loadConfig, parseConfigText } from './load.ts';
import { prepareConfig } from './prepare.ts';
import { missingCommand } from './server-kind.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const load = (text: string, env = {}, path = 'mcp.json'): ReturnType<typeof loadConfig> =>
  loadConfig(path, { env, readFile: () => text });

describe('loadConfig', () => {
  verifies(
    ['AGG-CFG-1', 'AGG-CFG-2', 'AGG-ENV-1'],
    'loadConfig reads a file, replaces variables and fills in defaults',
    () => {
      const path = join(folder, 'config.json');
      writeFileSync(
        path,
        '\uFEFF{"mcpServers": {"files": {"command": "npx", "env": {"A": "$A"}}, "b": {"command": "x"}}}',
      );
      expect(loadConfig(path, { env: { A: 'one' } })).toMatchObject({
        path,
        warnings: [],
        config: {
          mcpServers: {
            files: { command: 'npx', args: [], env: { A: 'one' } },
            b: { command: 'x', args: [], env: {} },
          },
        },
      });
    },
  );

  verifies('AGG-CFG-4', 'a .jsonc file may have comments and trailing commas', () => {
    const text = '{ // servers\n"mcpServers": {},\n}';
    expect(load(text, {}, 'a.JSONC').config).toEqual({ mcpServers: {} });
    expect(refusal(() => load(text))).toMatchObject({ code: 'invalid_json' });
  });

  verifies('AGG-CFG-4', 'warnings of loadConfig name the line', () => {
    expect(load('{"mcpServers": {\n"a": {"command": "x", "comment": "y"}}}').warnings).toEqual([
      '$.mcpServers.a (line 2): Unknown key ignored: "comment"',
    ]);
  });

  verifies(
    'AGG-CFG-3',
    'loadConfig names a missing file, a directory and an unreadable file in its error',
    () => {
      const missing = refusal(() => loadConfig(join(folder, 'no.json'), { env: {} }));
      expect(missing).toMatchObject({ code: 'file_not_found', details: { path: join(folder, 'no.json') } });
      expect(missing.message).toBe(`Config file not found: ${join(folder, 'no.json')}`);
      const directory = refusal(() => loadConfig(folder, { env: {} }));
      expect(directory.message).toBe(`Config file not found: ${folder} is a directory; name the file in it`);
      const because = (code: string): string =>
        refusal(() => loadConfig('x', { env: {}, readFile: failWith(code) })).message;
      expect(because('EACCES')).toBe(
        'Config file not found: x may not be read by this user; check its permissions',
      );
      expect(because('EIO')).toBe('Config file not found: x cannot be read (EIO)');
      expect(because('')).toBe('Config file not found: x cannot be read (unknown)');
    },
  );

  verifies('AGG-CFG-3', 'loadConfig names the line and column of invalid JSON', () => {
    const error = refusal(() => load('{\n  "mcpServers": {},\n}'));
    expect(error).toMatchObject({ code: 'invalid_json', details: { path: 'mcp.json', line: 2, column: 19 } });
    expect(describeConfigError(error)).toBe(
      'Invalid JSON in mcp.json, line 2, column 19: Trailing comma before }: remove it (only a .jsonc file may have one)\n' +
        'Nothing was started.',
    );
    expect(refusal(() => parseConfigText('')).message).toBe(
      'Invalid JSON, line 1, column 1: The file is empty: write at least { "mcpServers": {} }',
    );
  });

  verifies(
    ['AGG-CFG-2', 'AGG-CFG-3'],
    'loadConfig reports three mistakes at once with place, line and remedy',
    () => {
      const text = `{
  "mcpServers": {
    "files": { "comand": "npx", "args": "-y secret" },
    "my server": { "command": "x", "env": { "PORT": 8080 } }
  }
}`;
      const error = refusal(() => load(text));
      expect(error.code).toBe('invalid_schema');
      expect(error.details).toMatchObject({
        errors: [
          { path: '$.mcpServers.files.args', line: 3, value: '-y secret' },
          { path: '$.mcpServers.files.command', line: 3 },
          { path: '$.mcpServers["my server"].env.PORT', line: 4, value: 8080 },
        ],
      });
      expect(describeConfigError(error)).toBe(
        [
          'Invalid config: 3 mistakes in mcp.json',
          '  $.mcpServers.files.args (line 3)',
          '    args must be an array of strings: write "args": ["--port", "8080"]',
          '  $.mcpServers.files.command (line 3)',
          `    ${missingCommand()}`,
          '  $.mcpServers["my server"].env.PORT (line 4)',
          '    env must be an object of strings: write "env": { "PORT": "8080" }, numbers in quotes too',
          '  note: $.mcpServers.files (line 3): Unknown key ignored: "comand" (did you mean "command"?)',
          'Nothing was started.',
        ].join('\n'),
      );
    },
  );

  verifies('AGG-CFG-2', 'loadConfig refuses duplicate keys, except in parts that Weir does not read', () => {
    const error = refusal(() =>
      load('{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y", "command": "z"}}}'),
    );
    expect(error.code).toBe('invalid_schema');
    expect(error.message).toBe(
      [
        'Invalid config: 2 mistakes in mcp.json',
        '  $.mcpServers.a (line 1)',
        '    Key written twice, on lines 1 and 2: keep one of them',
        '  $.mcpServers.a.command (line 2)',
        '    Key written twice, on line 2: keep one of them',
      ].join('\n'),
    );
    expect(load('{"mcpServers": {}, "other": {"x": 1, "x": 2}}').warnings).toEqual([
      '$.other.x (line 1): Key written twice, on line 1: keep one of them',
      '$: Unknown key ignored: "other"',
    ]);
  });

  verifies(['AGG-ENV-2', 'AGG-CFG-3'], 'loadConfig reports all missing variables with their places', () => {
    const text = `{"mcpServers": {"pg": {"command": "x", "args": ["$B"], "env": {"DATABASE_URL": "\${A}\${A}"}},
      "off": {"command": "$C", "disabled": true}}}`;
    const error = refusal(() => load(text));
    expect(error).toMatchObject({
      code: 'missing_env_var',
      details: {
        variable: 'B',
        location: 'mcpServers.pg.args[0]',
        missing: [
          { variable: 'B' },
          { variable: 'A', location: 'mcpServers.pg.env.DATABASE_URL' },
          { variable: 'A' },
        ],
      },
    });
    expect(describeConfigError(error)).toBe(
      [
        'Missing environment variable(s): B, A',
        '  B in mcpServers.pg.args[0]',
        '  A in mcpServers.pg.env.DATABASE_URL',
        'Set them where the gateway is started (under a host: in the "env" of its own entry),',
        'or write a default as in ${NAME:-default}.',
        'Nothing was started.',
      ].join('\n'),
    );
  });

  verifies(
    ['AGG-CFG-4', 'AGG-ENV-1'],
    'loadConfig ignores a missing variable in a key that Weir does not read',
    () => {
      const { config } = load(
        '{"mcpServers": {"a": {"command": "x", "note": "$NONE"}}, "inputs": ["${input:x}"]}',
      );
      expect(config).toMatchObject({ mcpServers: { a: { note: '$NONE' } }, inputs: ['${input:x}'] });
    },
  );

  verifies('AGG-CFG-2', 'loadConfig validates the config again after it replaced variables', () => {
    const empty = refusal(() => load('{"mcpServers": {"a": {"command": "$CMD"}}}', { CMD: '' }));
    expect(empty.code).toBe('invalid_schema');
    expect(empty.message).toContain('$.mcpServers.a.command (line 1)\n    Missing or invalid command');
    expect(empty.message).toContain('(after Weir replaced its variables)');
    const address = refusal(() =>
      load('{"mcpServers": {"a": {"url": "$BASE/mcp"}}}', { BASE: 'ftp://secret' }),
    );
    expect(address.message).toContain('url must begin with http:// or https://');
    expect(address.message).not.toContain('secret');
  });

  verifies('AGG-CFG-3', 'parseConfigText rethrows errors that are not about the text', () => {
    expect(() => parseConfigText(undefined as unknown as string)).toThrow(TypeError);
  });

  verifies('AGG-CFG-3', 'loadConfig accepts a server called __proto__', () => {
    const { config } = load('{"mcpServers": {"__proto__": {"command": "$X"}}}', { X: 'y' });
    expect(Object.entries(config.mcpServers)).toEqual([['__proto__', { command: 'y', args: [], env: {} }]]);
  });

  verifies('AGG-CFG-3', 'loadConfig prints no secret of a damaged file', () => {
    const secret = 's3cr3t';
    const text = JSON.stringify(
      {
        mcpServers: { a: { command: secret, args: [secret, '$MISSING'], env: { KEY: secret } } },
        mcpGlobalTimeout: 1,
      },
      null,
      1,
    );
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.nat(3),
        fc.constantFrom('', ...'"{}[],:$1\n\\'.split('')),
        (at, drop, add) => {
          const error = refusal(() => load(text.slice(0, at) + add + text.slice(at + drop)), true);
          if (error !== undefined) expect(describeConfigError(error)).not.toContain('cr3');
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('prepareConfig', () => {
  verifies(
    'AGG-API-1',
    'prepareConfig expands and validates the config of a program as loadConfig does',
    () => {
      expect(prepareConfig({ mcpServers: { a: { command: '$X' } } }, { env: { X: 'y' } })).toEqual({
        config: { mcpServers: { a: { command: 'y', args: [], env: {} } } },
        unexpanded: { a: { command: '$X' } },
        warnings: [],
      });
      const error = refusal(() => prepareConfig({}, { env: {} }));
      expect(error.message).toBe(
        'Invalid config: 1 mistake\n  $.mcpServers\n    Missing required field: mcpServers; write "mcpServers": { "files": { "command": "npx" } }',
      );
    },
  );
});

function failWith(code: string): () => never {
  return () => {
    throw Object.assign(new Error('failed'), code === '' ? {} : { code });
  };
}

function refusal(run: () => unknown): ConfigError;
function refusal(run: () => unknown, mayPass: true): ConfigError | undefined;
function refusal(run: () => unknown, mayPass = false): ConfigError | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  if (mayPass) return undefined;
  throw new Error('The config was accepted');
}
