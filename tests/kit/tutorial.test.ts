// @module-tag slow
// The steps of docs/first-server.md as they stand there: written into the folder that `weir new` makes, compiled, tested and run.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { bin, temporaryFolder } from '../support/harness.ts';
import { createHeadlessBrowser } from '../support/headless-browser.ts';
import { root } from '../support/source-files.ts';
import { breaches, type ListedTool } from '../support/vocabulary.ts';

const run = promisify(execFile);
const page = readFileSync(join(root, 'docs', 'first-server.md'), 'utf8');
const [opening = '', ...sections] = page.split(/^(?=## )/mu);
const parent = temporaryFolder();
const folder = join(parent, 'books');

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(parent, 'node_modules'));
  await run(process.execPath, [bin('weir'), 'new', 'books'], { cwd: parent });
});

describe('the tutorial', () => {
  test('the first server has under forty lines', () => {
    const first = sections.slice(
      0,
      sections.findIndex((text) => text.startsWith('## A test')),
    );
    const code = [...filesOf(first.join('')).values()].join('');
    expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThan(40);
  });

  test('the first steps pass their own tests', async () => {
    rmSync(join(folder, 'src', 'greeting-get.ts'));
    write(
      opening +
        sections
          .slice(
            0,
            sections.findIndex((text) => text.startsWith('## A lookup')),
          )
          .join(''),
    );
    expect(await npmTest()).toMatch(/# pass 2\n# fail 0/u);
  });

  test('all steps make a server that answers on stdio', async () => {
    write(page);
    expect(await npmTest()).toMatch(/# pass 2\n# fail 0/u);
    const client = new Client({ name: 'test', version: '1' });
    const transport = { command: process.execPath, args: ['dist/main.js'], cwd: folder };
    await client.connect(new StdioClientTransport(transport));
    onTestFinished(() => client.close());

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['book-get', 'book-search', 'file-get']);
    expect((tools as ListedTool[]).flatMap(breaches)).toEqual([]);
    const found = await client.callTool({ name: 'book-search', arguments: { words: 'butler' } });
    expect(found.structuredContent).toMatchObject({ type: 'success', items: [{ title: 'Kindred' }] });
    const missing = await client.callTool({ name: 'book-get', arguments: { id: '9' } });
    expect(missing).toMatchObject({
      isError: true,
      content: [{ text: containing('no book 9') }],
    });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'book:///darkness',
      'book:///solaris',
      'book:///kindred',
    ]);
    const { contents } = await client.readResource({ uri: 'book:///solaris' });
    expect(contents).toMatchObject([{ text: containing('Solaris') }]);
    const prompt = await client.getPrompt({ name: 'next-book', arguments: { mood: 'calm' } });
    expect(JSON.stringify(prompt.messages)).toContain('feels calm');
    const file = await client.callTool({ name: 'file-get' });
    const { item } = file.structuredContent as { item: { uri: string } };
    const csv = await client.readResource({ uri: item.uri });
    expect(csv.contents).toMatchObject([{ text: containing('"solaris","Solaris"') }]);
  });

  test('all steps make a server that serves files and signs users in over HTTP', async () => {
    const issuer = await startAuthorizationServer({ hasDeviceFlow: false });
    onTestFinished(() => issuer.stop());
    const url = await serve({ ISSUER: issuer.issuer, CLIENT_ID: 'native', BOOKS_MASTER_KEY: 'a'.repeat(64) });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    onTestFinished(() => client.close());

    const file = await client.callTool({ name: 'file-get' });
    const { item } = file.structuredContent as { item: { uri: string } };
    const download = await fetch(item.uri);
    expect(download.headers.get('content-disposition')).toContain('books.csv');
    expect(await download.text()).toContain('"solaris","Solaris"');
    expect((await fetch(item.uri.replace('sig=', 'sig=x'))).status).toBe(404);

    const asked = await client.callTool({ name: 'profile-get' });
    const address = /http:\S+/u.exec(JSON.stringify(asked))?.[0].replace(/["\\].*/u, '') ?? '';
    await createHeadlessBrowser().visit(address);
    const profile = await client.callTool({ name: 'profile-get' });
    expect(profile.structuredContent).toEqual({ type: 'success', item: { sub: 'alice' } });
  });
});

/** Finds the files that a page shows, by the comment in their first line. */
function filesOf(text: string): Map<string, string> {
  const blocks = [...text.matchAll(/^```(ts|json)\n(.*?)^```$/gmsu)];
  return new Map(
    blocks.map(([, language, code = '']) => {
      if (language === 'json') return ['books.json', code];
      const [first = '', ...rest] = code.split('\n');
      return [first.replace('// ', ''), rest.join('\n')];
    }),
  );
}

function containing(text: string): unknown {
  return expect.stringContaining(text);
}

function write(text: string): void {
  for (const [name, code] of filesOf(text)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
  }
}

/** Does what `npm test` of the template does. */
async function npmTest(): Promise<string> {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  await run(process.execPath, [tsc], { cwd: folder }).catch(explain);
  const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', 'dist/server.test.js'], {
    cwd: folder,
  }).catch(explain);
  return stdout;
}

function explain(error: unknown): never {
  const { stdout, stderr } = error as { stdout: string; stderr: string };
  throw new Error(`${stdout}\n${stderr}`, { cause: error });
}

/** Starts the server on HTTP and returns its address. */
async function serve(env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ['dist/main.js', '--port', '38808'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const [url] = /http:\S+/u.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The server ended before it listened');
}
