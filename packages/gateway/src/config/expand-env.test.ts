import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { expandConfigEnvVars, expandEnvVar, printableName } from './expand-env.ts';

const env = { HOME: '/home/me', EMPTY: '', TRICKY: '${HOME} $HOME', _X1: 'x1', lower: 'low' };
const expand = (text: string): unknown => {
  const result = expandEnvVar(text, { env });
  return result.success ? result.value : result.missingVars;
};

describe('expandEnvVar', () => {
  const cases: [written: string, becomes: unknown][] = [
    ['no reference', 'no reference'],
    ['$HOME/a:${HOME}', '/home/me/a:/home/me'],
    ['$_X1', 'x1'],
    ['${lower}', 'low'],
    ['$lower costs $5, $ and $$', '$lower costs $5, $ and $$'],
    ['$$HOME', '$/home/me'],
    ['$HOMEward', '/home/meward'],
    ['${env:HOME}', '/home/me'],
    ['${env:HOME:-x}', '/home/me'],
    ['${env:}', ['env:']],
    ['${TRICKY}', '${HOME} $HOME'],
    ['[$EMPTY]', '[]'],
    ['[${EMPTY}]', '[]'],
    ['[${EMPTY:-full}]', '[full]'],
    ['${NONE:-a:-b}', 'a:-b'],
    ['${NONE:-}', ''],
    ['${NONE:-$HOME/x}', '/home/me/x'],
    ['${NONE:-${NADA:-${HOME}}}!', '/home/me!'],
    ['${HOME:-${NONE}}', '/home/me'],
    ['${NONE:-{}}', '{}'],
    ['${}', '${}'],
    ['${:-x}', '${:-x}'],
    ['${HOME', '${HOME'],
    ['}${HOME}', '}/home/me'],
    ['${ ${HOME}', '${ /home/me'],
    ['$A ${B} $A ${C:-${D}}', ['A', 'B', 'D']],
    ['${input:token}', ['input:token']],
  ];
  for (const [written, becomes] of cases) {
    verifies(
      ['AGG-ENV-1', 'AGG-ENV-2'],
      `expandEnvVar turns ${written} into ${JSON.stringify(becomes)}`,
      () => {
        expect(expand(written)).toEqual(becomes);
      },
    );
  }

  verifies('AGG-ENV-1', 'expandEnvVar treats inherited properties of env as missing variables', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(expand(`\${${name}}`)).toEqual([name]);
    }
    expect(expandEnvVar('$GONE', { env: { GONE: undefined } }).success).toBe(false);
  });

  verifies('AGG-ENV-2', 'expandEnvVar names each missing variable once in its error', () => {
    expect(expandEnvVar('$A$B$A', { env })).toEqual({
      success: false,
      error: 'Missing environment variable(s): A, B',
      missingVars: ['A', 'B'],
      missing: ['A', 'B', 'A'].map((variable) => ({ variable, location: '' })),
    });
  });

  verifies('AGG-CFG-3', 'expandEnvVar hides a variable name that could be part of a password', () => {
    const result = expandEnvVar('pass${w0rd!x}', { env });
    expect(result).toMatchObject({ error: 'Missing environment variable(s): ${…}', missingVars: ['w0rd!x'] });
    expect(printableName('input:api-key')).toBe('input:api-key');
    expect(printableName('a'.repeat(81))).toBe('${…}');
  });

  verifies(
    'AGG-ENV-1',
    'expandEnvVar keeps the text around references and does not expand values again',
    () => {
      const value = fc.string();
      const literal = fc.string().map((text) => text.replaceAll(/[${}]/g, ''));
      const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/);
      const part = fc.oneof(
        literal.map((text) => ({ written: text, becomes: () => text })),
        fc.tuple(name, fc.constantFrom('env:', '')).map(([variable, origin]) => ({
          written: `\${${origin}${variable}}`,
          becomes: (of: Map<string, string>) => of.get(variable) ?? '',
        })),
        fc.tuple(name, literal).map(([variable, fallback]) => ({
          written: `\${${variable}:-${fallback}}`,
          becomes: (of: Map<string, string>) => of.get(variable) || fallback,
        })),
      );
      fc.assert(
        fc.property(fc.array(part), fc.infiniteStream(value), (parts, values) => {
          const names = parts.flatMap(({ written }) => /[A-Z_][A-Z0-9_]*/.exec(written) ?? []);
          const variables = new Map(names.map((found) => [found, values.next().value as string]));
          const result = expandEnvVar(parts.map(({ written }) => written).join(''), {
            env: Object.fromEntries(variables),
          });
          expect(result).toEqual({
            success: true,
            value: parts.map(({ becomes }) => becomes(variables)).join(''),
          });
        }),
      );
    },
  );

  verifies('AGG-ENV-1', 'expandEnvVar takes linear time for a text of many references', () => {
    const hostile = ['${', '${A:-', '$', '}', '${A:-}', '${A:-$A', '${HOME}'];
    const start = performance.now();
    for (const text of hostile) expandEnvVar(text.repeat(100_000), { env });
    expect(performance.now() - start).toBeLessThan(3000);
  });
});

describe('expandConfigEnvVars', () => {
  verifies('AGG-ENV-1', 'expandConfigEnvVars expands values at every depth but no keys', () => {
    const config = { a: ['$HOME', 1, null, [{ $HOME: '${HOME}', b: true }]] };
    expect(expandConfigEnvVars(config, { env })).toEqual({
      success: true,
      value: { a: ['/home/me', 1, null, [{ $HOME: '/home/me', b: true }]] },
    });
    expect(config.a[0]).toBe('$HOME');
  });

  verifies('AGG-ENV-2', 'expandConfigEnvVars names all missing variables with their places', () => {
    const config = {
      mcpServers: {
        postgres: { command: '$PG', env: { DATABASE_URL: '${DATABASE_URL}' } },
        'my server': { args: ['x', '$PG'] },
      },
    };
    expect(expandConfigEnvVars(config, { env })).toMatchObject({
      success: false,
      missingVars: ['PG', 'DATABASE_URL'],
      missing: [
        { variable: 'PG', location: 'mcpServers.postgres.command' },
        { variable: 'DATABASE_URL', location: 'mcpServers.postgres.env.DATABASE_URL' },
        { variable: 'PG', location: 'mcpServers["my server"].args[1]' },
      ],
    });
  });

  verifies('AGG-ENV-1', 'expandConfigEnvVars leaves disabled servers unchanged', () => {
    const off = { command: '$NONE', disabled: true };
    const alsoOff = { command: '$NONE', enabled: false };
    const on = { command: '$HOME', disabled: false, enabled: true };
    const result = expandConfigEnvVars({ mcpServers: { off, alsoOff, on } }, { env });
    expect(result).toEqual({
      success: true,
      value: { mcpServers: { off, alsoOff, on: { ...on, command: '/home/me' } } },
    });
    expect(expandConfigEnvVars({ other: { off } }, { env }).success).toBe(false);
  });

  verifies('AGG-ENV-1', 'expandConfigEnvVars leaves the excepted keys unchanged', () => {
    const except = new Set(['note', 'inputs']);
    const config = { note: '$NONE', inputs: [{ id: '$NONE' }], home: '$HOME' };
    expect(expandConfigEnvVars(config, { env, except })).toEqual({
      success: true,
      value: { ...config, home: '/home/me' },
    });
  });

  verifies('AGG-ENV-1', 'expandConfigEnvVars keeps a key called __proto__ as a plain key', () => {
    const config: unknown = JSON.parse('{"__proto__": {"a": "$HOME"}}');
    const result = expandConfigEnvVars(config, { env });
    expect(JSON.stringify(result)).toBe('{"success":true,"value":{"__proto__":{"a":"/home/me"}}}');
  });
});
