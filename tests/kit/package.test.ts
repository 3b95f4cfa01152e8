// @module-tag slow
// The package as npm packs it, beside nothing but its dependencies.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build, transformSync } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { node22, node24, noJudges } from '../judges/judges.ts';
import { temporaryFolder } from '../support/harness.ts';
import { INSTALLED, installPacked, OPTIONAL, packServer, writeScript } from '../support/packed-server.ts';
import {
  type Example,
  exampleCount,
  promisedOutput,
  provedNames,
  readmeExamples,
} from '../support/server-readme.ts';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

const run = promisify(execFile);
const env = { PATH: process.env['PATH'] ?? '' };

/** Examples that need a package which npm does not install with this one. */
const NEEDY = ['express', 'oauth', 'testing'];
const needy = readmeExamples.filter(({ name }) => NEEDY.includes(name));
const plain = readmeExamples.filter(({ name }) => !NEEDY.includes(name) && name !== 'server');
const server = readmeExamples.find(({ name }) => name === 'server')?.code ?? '';
/** The answer of the server in the README. */
const OSLO = { type: 'success', items: [{ name: 'Oslo', country: 'Norway' }] };

/** The server in the README up to the lines that start it. */
const [cities = ''] = server.split('const { transport }');
const OVER_HTTP = `${cities}
  const { url } = await setupHttpServer({ serverFactory, port: 0 });
  console.log(url);
`;
const ON_EXPRESS = `${cities}
  import { createFileServingRouter, createHttpMcpRouter, createResourceStore } from '@weir/server';
  import { mkdtempSync } from 'node:fs';
  import { pathToFileURL } from 'node:url';
  import express from 'express';

  const uri = pathToFileURL(mkdtempSync(process.cwd() + '/exports-')).href;
  await createResourceStore({ uri }).put('Oslo', { filename: 'cities.txt', owner: 'ada' });
  const files = { routePrefix: '/exports', resourceStoreUri: uri, principal: () => 'ada' };
  const app = express();
  app.use('/mcp', createHttpMcpRouter({ mcpServer: serverFactory }));
  app.use('/exports', createFileServingRouter(files));
  const listening = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + listening.address().port));
`;

/** Releases of Node that the package promises to run on. */
const nodes = [
  [`Node ${process.versions.node.split('.')[0]} of the tests`, process.execPath, undefined],
  ['Node 22', node22, noJudges],
  ['Node 24', node24, noJudges],
] as const;

/** A project with the dependencies alone. */
let bare: string;
/** A project that has the optional packages, too. */
let full: string;
/** A project whose optional packages say that they are loaded. */
let trapped: string;

beforeAll(() => {
  const folder = temporaryFolder();
  const unpacked = packServer(folder);
  const needed = [...INSTALLED, '@types/node'];
  bare = installPacked(unpacked, join(folder, 'bare'), needed);
  full = installPacked(unpacked, join(folder, 'full'), [...needed, ...OPTIONAL, '@types/express']);
  trapped = installPacked(unpacked, join(folder, 'trapped'), INSTALLED);
  for (const name of OPTIONAL) {
    const trap = join(trapped, 'node_modules', name);
    mkdirSync(trap, { recursive: true });
    writeFileSync(join(trap, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
    writeFileSync(join(trap, 'index.js'), `console.log('loaded ${name}');`);
  }
  for (const project of [bare, full]) for (const example of readmeExamples) writeScript(project, example);
});

describe.concurrent('without optional packages', () => {
  verifies('KIT-SCOPE-1', 'every entry of the package is imported', async ({ expect }) => {
    const script = entries().map((entry) => `await import('@weir/server${entry.slice(1)}');`);
    expect(script.length).toBeGreaterThan(10);
    expect(await evaluate(bare, script.join('\n'))).toBe('');
  });

  verifies(
    'KIT-SCOPE-1',
    'the import of the root and of testing evaluates no optional package',
    async ({ expect }) => {
      const script = "await import('@weir/server'); await import('@weir/server/testing');";
      expect(await evaluate(trapped, script)).toBe('');
      expect(await evaluate(trapped, "await import('express');")).toBe('loaded express\n');
    },
  );

  verifies(
    ['KIT-SCOPE-1', 'KIT-OAUTH-1'],
    'createOAuthAdapters and connectInMemory say which package to install',
    async ({ expect }) => {
      expect(await failureOf('oauth')).toMatch(
        /^Error: createOAuthAdapters needs [^\n]*: npm install openid-client@6$/mu,
      );
      expect(await failureOf('testing')).toMatch(
        /^Error: connectInMemory needs [^\n]*"npm install --save-dev @modelcontextprotocol\/client"$/mu,
      );
    },
  );

  test('the README has an example of each block', ({ expect }) => {
    const named = readmeExamples.map(({ name }) => `./${name}`);
    expect(readmeExamples).toHaveLength(exampleCount);
    const blocks = entries().filter((entry) => entry !== '.' && entry !== './internal');
    expect(blocks.filter((entry) => !named.includes(entry))).toEqual([]);
  });

  verifies(
    ['KIT-SCOPE-1', 'KIT-TRANSPORT-1'],
    'the server of the README answers over HTTP on this machine alone and refuses foreign hosts',
    async ({ expect }) => {
      await using served = serve(bare, OVER_HTTP);
      const url = new URL(await served.line);
      expect(url.hostname).toBe('127.0.0.1');
      expect(await callTool(new StreamableHTTPClientTransport(url))).toEqual(OSLO);
      expect(await statusFor(url, 'evil.example')).toBe(403);
      expect(await statusFor(url, url.host)).toBe(405);
    },
  );

  for (const [name, node, reason] of nodes) {
    verifies.skipIf(reason)(
      'KIT-SCOPE-1',
      `the examples of all blocks but sign-in and testing print what they promise on ${name}`,
      async () => {
        const script = plain.map((example) => `await import('./${example.name}.mjs');`).join('\n');
        expectPromised(await evaluate(bare, script, node), plain);
      },
    );

    verifies.skipIf(reason)(
      ['KIT-SCOPE-1', 'KIT-TRANSPORT-1'],
      `the server of the README answers on stdio on ${name}`,
      async ({ expect }) => {
        expect(await callOnStdio(bare, 'server.mjs', node)).toEqual(OSLO);
      },
    );
  }
});

describe.concurrent('with optional packages', () => {
  test.each(needy)('the example $name of the README prints what it promises', async (example) => {
    const { stdout } = await run(process.execPath, [`${example.name}.mjs`], { cwd: full, env });
    expectPromised(stdout, [example]);
  });

  verifies(
    ['KIT-SCOPE-1', 'KIT-TRANSPORT-1', 'KIT-FILES-1'],
    'both routers answer on an application of Express',
    async ({ expect }) => {
      await using served = serve(full, ON_EXPRESS);
      const address = await served.line;
      expect(await callTool(new StreamableHTTPClientTransport(new URL('/mcp', address)))).toEqual(OSLO);
      const listed = await fetch(new URL('/exports', address));
      const { items } = (await listed.json()) as { items: { name: string; uri: string }[] };
      expect(items.map(({ name }) => name)).toEqual(['cities.txt']);
      const file = await fetch(new URL(items[0]?.uri ?? '', address));
      expect([file.status, await file.text()]).toEqual([200, 'Oslo']);
    },
  );
});

describe.concurrent('one file made by esbuild', () => {
  for (const [format, file] of [
    ['esm', 'server.mjs'],
    ['cjs', 'server.cjs'],
  ] as const) {
    let folder: string;

    beforeAll(async () => {
      folder = temporaryFolder();
      await bundle(format, join(folder, file));
    });

    for (const [name, node, reason] of nodes)
      verifies.skipIf(reason)(
        'KIT-SCOPE-1',
        `the server of the README answers as one ${format} file on ${name}`,
        async ({ expect }) => {
          expect(readdirSync(folder)).toEqual([file]);
          expect(await callOnStdio(folder, file, node)).toEqual(OSLO);
        },
      );
  }
});

describe('projects in TypeScript', () => {
  // Each also checks the declarations of the SDK and of zod, which takes most of the time.
  test.each([
    { moduleResolution: 'nodenext', exactOptionalPropertyTypes: true },
    { moduleResolution: 'bundler', exactOptionalPropertyTypes: false },
  ])(
    'the examples and all types compile without types of Express with $moduleResolution',
    async (options) => {
      const files = [...readmeExamples.filter(({ name }) => !NEEDY.includes(name)), everyType()];
      const folder = join(bare, options.moduleResolution);
      expect(await compile(folder, files, { ...options, skipLibCheck: false })).toBe('');
    },
  );

  test('the examples of Express, sign-in and testing compile with their packages', async () => {
    expect(await compile(join(full, 'needy'), needy)).toBe('');
  });

  verifies(
    'KIT-MODULE-1',
    'a handler that returns what its output schema forbids does not compile',
    async () => {
      const code = server.replace(/items: cities\.filter.*\}\),$/mu, 'items: [{ name: query }] }),');
      expect(code).not.toBe(server);
      const output = await compile(join(bare, 'wrong'), [{ name: 'wrong', code }]);
      expect(output).toMatch(/^wrong\.ts\(\d+,\d+\): error TS2322: .* is not assignable to type /u);
      expect(output.match(/^wrong\.ts/gmu)).toHaveLength(1);
    },
  );
});

/** The entries of the package that are modules. */
function entries(): string[] {
  const manifest = join(bare, 'node_modules', '@weir', 'server', 'package.json');
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports: object };
  return Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
}

/** Runs statements as a module of a project, and returns what they print. */
async function evaluate(cwd: string, script: string, node: string = process.execPath): Promise<string> {
  const { stdout } = await run(node, ['--input-type=module', '--eval', script], { cwd, env });
  return stdout;
}

/** Runs an example without optional packages, and returns its stderr. */
function failureOf(name: string): Promise<string> {
  return run(process.execPath, [`${name}.mjs`], { cwd: bare, env }).then(
    () => 'no failure',
    (error: unknown) => (error as { stderr: string }).stderr,
  );
}

function expectPromised(stdout: string, examples: readonly Example[]): void {
  const promised = examples.flatMap((example) => promisedOutput(example));
  const printed = stdout.split('\n').filter((line) => line !== '');
  expect(printed.map((line, index) => (promised[index] === undefined ? undefined : line))).toEqual(promised);
}

/** Starts a server in a project; `line` is the first line that it prints. */
function serve(cwd: string, code: string): AsyncDisposable & { line: Promise<string> } {
  const script = transformSync(code, { loader: 'ts', target: 'node20' }).code;
  const args = ['--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  return {
    line: once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    async [Symbol.asyncDispose]() {
      child.kill();
      await closed;
    },
  };
}

/** Returns the status of a request that names this host. */
async function statusFor(url: URL, host: string): Promise<number | undefined> {
  const sent = request(url, { method: 'PUT', headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

function callOnStdio(cwd: string, file: string, command: string = process.execPath): Promise<unknown> {
  return callTool(new StdioClientTransport({ command, args: [file], cwd, env }));
}

/** Calls the tool of the server in the README by the SDK's client. */
async function callTool(transport: Transport): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  try {
    const { structuredContent } = await client.callTool({ name: 'city-search', arguments: { query: 'Osl' } });
    return structuredContent;
  } finally {
    await client.close();
  }
}

/** Bundles the server in the README. The older format knows no `await` outside of functions. */
async function bundle(format: 'esm' | 'cjs', outfile: string): Promise<void> {
  const start = server.slice(cities.length);
  const inFunction = `${cities}async function main() {\n${start}}\nvoid main();\n`;
  const contents = format === 'esm' ? server : inFunction;
  const stdin = { contents, loader: 'ts', resolveDir: bare } as const;
  await build({
    stdin,
    outfile,
    format,
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: OPTIONAL,
  });
}

/** Exports every type in the tables of the README. */
function everyType(): Example {
  const types = provedNames.map(({ name }) => name).filter((name) => /^[A-Z][A-Za-z]*[a-z]$/u.test(name));
  expect(types.length).toBeGreaterThan(20);
  return { name: 'every-type', code: `export type { ${types.join(', ')} } from '@weir/server';\n` };
}

/** Compiles files in a folder of a project, and returns the errors. */
async function compile(folder: string, files: readonly Example[], options: object = {}): Promise<string> {
  mkdirSync(folder);
  for (const { name, code } of files) writeFileSync(join(folder, `${name}.ts`), code);
  const { moduleResolution } = { moduleResolution: 'nodenext', ...options };
  const compilerOptions = {
    target: 'es2023',
    module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    ...options,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return run(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], { cwd: folder, env }).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}
