import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { checkMcpConfig } from './config.generated.ts';
import { createFindings } from './findings.ts';
import { formatPath } from './json/json-path.ts';
import { configSchema } from './schema.ts';
import { missingCommand } from './server-kind.ts';

const generator = fileURLToPath(new URL('../../scripts/generate-config.mjs', import.meta.url));
const docs = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../docs/${name}`, import.meta.url)), 'utf8');

describe('the files generated from the schema', () => {
  verifies(
    'AGG-CFG-2',
    'the generated files match the schema',
    () => {
      expect(() => execFileSync(process.execPath, [generator, '--check'], { stdio: 'pipe' })).not.toThrow();
    },
    60_000,
  );

  verifies(
    'AGG-CFG-2',
    'the generated validator refuses the same values as the schema, at the same places',
    () => {
      fc.assert(
        fc.property(anyConfig(), (config) => {
          expect(placesByValidator(config)).toEqual(placesBySchema(config));
        }),
        { numRuns: 1000 },
      );
    },
  );

  verifies('AGG-CFG-2', 'the generated validator refuses an empty key as the schema does', () => {
    const config = { mcpServers: { '': { command: 'x' } } };
    expect(placesByValidator(config)).toEqual(['$.mcpServers[""]']);
    expect(placesBySchema(config)).toEqual(['$.mcpServers[""]']);
  });

  verifies('AGG-CFG-4', 'the reference page lists every key of the JSON Schema', () => {
    const { $defs } = JSON.parse(docs('config.schema.json')) as {
      $defs: Record<string, { properties: object }>;
    };
    const page = docs('config.md');
    const keys = Object.entries($defs).flatMap(([name, { properties }]) => [
      `## ${name}`,
      ...Object.keys(properties).map((key) => `| \`${key}\` |`),
    ]);
    expect(keys.length).toBeGreaterThan(40);
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
  });
});

verifies('AGG-CFG-2', 'the error about a server of no kind names a key of every kind', () => {
  expect(missingCommand()).toBe(
    'Missing or invalid command: write "command": "npx" for a program, or "url" or "image" in its place',
  );
});

function placesByValidator(config: unknown): string[] {
  const found = createFindings();
  checkMcpConfig(config, [], found);
  return places(found.errors.map(({ path }) => path));
}

function placesBySchema(config: unknown): string[] {
  const { error } = configSchema.safeParse(config);
  return places((error?.issues ?? []).flatMap((issue) => issuePaths(issue)));
}

type Issue = { path: readonly PropertyKey[]; code: string; errors?: Issue[][] };

// For a union, zod reports how each option failed; the option that came furthest counts.
function issuePaths({ path, errors = [] }: Issue): (string | number)[][] {
  const own = path.filter((step) => typeof step !== 'symbol');
  const deeper = errors.find((issues) => issues.every((issue) => issue.path.length > 0)) ?? [];
  if (deeper.length === 0) return [own];
  return deeper.flatMap(issuePaths).map((rest) => [...own, ...rest]);
}

function places(paths: readonly (readonly (string | number)[])[]): string[] {
  return [...new Set(paths.map(formatPath))].toSorted();
}

function anyConfig(): fc.Arbitrary<unknown> {
  const junk = fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    'text',
    0,
    -1,
    -2,
    1.5,
    25,
    2 ** 31,
    true,
    [],
    ['a'],
    [1],
    {},
    { a: 'b' },
    { a: 1 },
    { a: { enabled: 'x', timeout: 1 } },
  );
  const shape = (keys: string): fc.Arbitrary<unknown> =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record(Object.fromEntries(keys.split(' ').map((key) => [key, junk])), {
          requiredKeys: [],
        }),
      },
      junk,
    );
  const docker = shape(
    'image containerName command ports port path memory cpus network volumes allowUnsafeMounts readOnly capabilities pull extra',
  );
  const binding = shape(
    'sectionType headingText blockId startLine endLine serverId inheritToChildren documentPath',
  );
  const bindings = fc.oneof(junk, fc.array(binding, { maxLength: 2 }));
  const entry = fc.record(
    {
      ...Object.fromEntries(SERVER_KEYS.map((key) => [key, junk])),
      deploymentType: fc.constantFrom<unknown>('managed', 'external', 'x', 1),
      sharing: fc.constantFrom<unknown>('shared', 'per-session', 'per-call', 'x', null),
      era: fc.constantFrom<unknown>('legacy', 'modern', 'x', null),
      sseConfig: shape('url'),
      dockerConfig: docker,
      sectionBindings: bindings,
    },
    { requiredKeys: [] },
  );
  const servers = fc.dictionary(fc.constantFrom('a', 'my server'), fc.oneof(entry, junk), { maxKeys: 2 });
  const top = fc.record(
    {
      mcpServers: fc.oneof({ weight: 5, arbitrary: servers }, junk),
      mcpGlobalTimeout: junk,
      mcpConcurrentLimit: junk,
      mcpSessionLimit: junk,
      $schema: junk,
      sectionBindings: bindings,
      other: junk,
    },
    { requiredKeys: [] },
  );
  return fc.oneof({ weight: 20, arbitrary: top }, junk);
}

const SERVER_KEYS =
  'command args env cwd inheritEnv disabled enabled startupTimeout name type transport url headers image timeout tools lazy other'.split(
    ' ',
  );
