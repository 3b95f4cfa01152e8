// The command as a user starts it, and clients to talk to it: raw lines, or the SDK's client in either era.
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll } from 'vitest';
import { LineClient, PATIENCE_MS, type Json, type Received } from './line-client.ts';

export type { Json, Received };
export type Era = 'legacy' | 'modern';

/** One server of a config file. */
export interface ServerEntry extends Json {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
}

/** The servers of a config by key, or the text of the whole file. */
export type Config = Record<string, ServerEntry> | string;

export interface StartOptions {
  /** Arguments beside `--config` and `--state`. */
  readonly args?: readonly string[];
  /** Variables beside PATH and HOME; a test's own environment reaches no gateway. */
  readonly env?: Record<string, string>;
  /** For the config and what is remembered; a second start in the same folder remembers the first. */
  readonly folder?: string;
  /** The name of the config file. */
  readonly file?: string;
  /** The name that the command is started under, which decides its defaults. */
  readonly as?: ProgramName;
}

/** The bins of the package. */
export type ProgramName = 'weir' | 'mcp-weir' | 'mcp-simple-aggregator';

/** The folder of the command as it is shipped; a copy of it elsewhere can be named instead. */
const DIST: string =
  process.env['WEIR_DIST'] ?? fileURLToPath(new URL('../../packages/cli/dist/', import.meta.url));

/** The file that a bin starts. */
export function bin(name: ProgramName): string {
  return join(DIST, `${name}.cjs`);
}

/** The version of the product. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../packages/cli/package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;

/** The gateway promises to be gone 5 s after the end of its input; the machine may be busy with other tests. */
export const GONE_WITHIN_MS = 6000;

const MODERN = '2026-07-28';
const folders = new Set<string>();
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder of the test's own, removed when its file is through. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  folders.add(folder);
  return folder;
}

/** A server from tests/fixtures, as a config lists it: `fixture('echo')`. */
export function fixture(name: string, ...args: string[]): ServerEntry {
  const script = fileURLToPath(new URL(`../fixtures/${name}.mjs`, import.meta.url));
  return { command: process.execPath, args: [script, ...args] };
}

/** A server from a script in a few lines; `./stdio.mjs` of the fixtures can be imported as 'stdio'. */
export function scripted(script: string): ServerEntry {
  const library = new URL('../fixtures/stdio.mjs', import.meta.url).href;
  return {
    command: process.execPath,
    args: ['--input-type=module', '-e', script.replaceAll("'stdio'", `'${library}'`)],
  };
}

/** A server with tools of these names, each of which answers with its own name and the server's label. */
export function serverWith(names: readonly string[], label = 'server'): ServerEntry {
  return scripted(`
    import { serve, text, tool } from 'stdio';
    const names = ${JSON.stringify(names)};
    serve({
      name: 'named',
      tools: names.map((name) => tool(name)),
      on: { 'tools/call': ({ name }) => text(names.includes(name) ? '${label}: ' + name : 'unknown: ' + name) },
    });
  `);
}

export interface Command {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/**
 * Returns the command by which a host starts the gateway, and writes its config file. Most tests are about names joined by
 * a colon and starts that fail fast, so they run the name that has these defaults; `as: 'weir'` has those of hosts.
 */
export function commandFor(config: Config, options: StartOptions = {}): Command {
  const folder = options.folder ?? temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, options.file ?? 'mcp.json');
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify({ mcpServers: config }, null, 2));
  const args = ['--config', file, '--state', join(folder, 'state'), ...(options.args ?? [])];
  return commandWith(args, { as: 'mcp-simple-aggregator', ...options, folder });
}

function commandWith(args: readonly string[], { folder, env, as = 'weir' }: StartOptions): Command {
  const cwd = folder ?? temporaryFolder();
  return {
    command: process.execPath,
    args: [bin(as), ...args],
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
    cwd,
  };
}

/** Starts the gateway over a config; `await using` ends it with the test. */
export function startWeir(config: Config, options: StartOptions = {}): Weir {
  return new Weir(commandFor(config, options));
}

/** Runs the command, as `weir` unless said otherwise, with exactly these arguments and this input until it ends. */
export async function runWeir(
  args: readonly string[],
  { input = '', ...options }: StartOptions & { input?: string } = {},
): Promise<Ended> {
  await using weir = new Weir(commandWith(args, options));
  weir.end(input);
  return await weir.ended;
}

/** Runs the command over a config until its start fails; the client waits and says no more than this input. */
export async function runUntilFailed(
  config: Config,
  { input = '', ...options }: StartOptions & { input?: string } = {},
): Promise<Ended> {
  await using weir = startWeir(config, options);
  weir.stdin.write(input);
  if (await isSettledWithin(PATIENCE_MS, weir.ended)) return await weir.ended;
  throw new Error(`the start did not fail within ${PATIENCE_MS} ms\nstderr:\n${weir.stderr}`);
}

/** Runs the command over a config and this input until it ends. */
export async function runOver(
  config: Config,
  { input = '', ...options }: StartOptions & { input?: string } = {},
): Promise<Ended> {
  await using weir = startWeir(config, options);
  weir.end(input);
  return await weir.ended;
}

/** Exit code, signal and output of a run of the command. */
export interface Ended {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The gateway at work, spoken to line by line. */
export class Weir extends LineClient implements AsyncDisposable {
  /** Everything on stderr so far. */
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly folder: string;
  readonly #child: ChildProcessWithoutNullStreams;

  constructor({ command, args, env, cwd }: Command) {
    const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const closed = new Promise<Pick<Ended, 'code' | 'signal'>>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    super({ input: child.stdin, output: child.stdout, over: closed });
    this.folder = cwd;
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    // A gateway that has ended reads no more.
    child.stdin.on('error', () => {});
    this.ended = closed.then((how) => {
      const stdout = this.lines.map((line) => `${line}\n`).join('');
      return { ...how, stdout, stderr: this.stderr };
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get stdin(): ChildProcessWithoutNullStreams['stdin'] {
    return this.#child.stdin;
  }

  get stdout(): ChildProcessWithoutNullStreams['stdout'] {
    return this.#child.stdout;
  }

  /** Waits until stderr matches, also with what it already holds. */
  async says(text: string | RegExp): Promise<void> {
    const isSaid = (): boolean =>
      typeof text === 'string' ? this.stderr.includes(text) : text.test(this.stderr);
    const deadline = performance.now() + PATIENCE_MS;
    while (!isSaid()) {
      if (performance.now() > deadline)
        throw new Error(`stderr does not say ${String(text)}\n${this.story()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The client's last word: the end of stdin, after this text if there is any. */
  end(input = ''): void {
    this.#child.stdin.end(input);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it as a client does; throws where it does not end in time. */
  async close(): Promise<Ended> {
    this.end();
    if (await isSettledWithin(GONE_WITHIN_MS, this.ended)) return this.ended;
    this.kill('SIGKILL');
    await this.ended;
    throw new Error(`the gateway did not end within ${GONE_WITHIN_MS} ms\n${this.story()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected override story(): string {
    return `${super.story()}\nstderr:\n${this.stderr.slice(-3000)}`;
  }
}

/** Tells whether a promise settles in so many milliseconds. */
export async function isSettledWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

/** The text of a tool's result. */
export function textOf({ result }: Received): string {
  const content = (result?.['content'] ?? []) as { text?: string }[];
  return content.map(({ text }) => text ?? '').join('\n');
}

/** Returns the envelope of a modern request; `more` are further members of `_meta`. */
export function modernMeta(capabilities: Json = {}, more: Json = {}): { _meta: Json } {
  const prefix = 'io.modelcontextprotocol/';
  return {
    _meta: {
      [`${prefix}protocolVersion`]: MODERN,
      [`${prefix}clientInfo`]: { name: 'test', version: '1.2.3' },
      [`${prefix}clientCapabilities`]: capabilities,
      ...more,
    },
  };
}

/** The SDK's client, connected; `await using` ends it with the test. */
export interface SdkConnection extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  /** Everything on stderr so far. */
  readonly stderr: () => string;
}

/** Connects the SDK's client to a command, in the given era. */
export async function connectSdk(
  { command, args, env, cwd }: Omit<Command, 'cwd'> & { cwd?: string },
  era: Era,
  options: ClientOptions = {},
): Promise<SdkConnection> {
  const transport = new StdioClientTransport({
    command,
    args,
    env,
    stderr: 'pipe',
    maxBufferSize: 256 * 1024 * 1024,
    ...(cwd !== undefined && { cwd }),
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const mode = era === 'modern' ? { pin: MODERN } : 'legacy';
  const client = new Client({ name: 'test', version: '1.2.3' }, { versionNegotiation: { mode }, ...options });
  await client.connect(transport, { timeout: PATIENCE_MS });
  return {
    client,
    pid: transport.pid ?? -1,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      if (args[0]?.startsWith(DIST) === true) await endInput(transport, () => stderr);
      await client.close();
    },
  };
}

/** Ends the input of a gateway and waits for its end, because the SDK would send SIGTERM after 2 s without a word. */
async function endInput(transport: StdioClientTransport, stderr: () => string): Promise<void> {
  const { _process: child } = transport as unknown as { _process?: ChildProcess };
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin?.end();
  if (await isSettledWithin(GONE_WITHIN_MS, ended)) return;
  child.kill('SIGKILL');
  throw new Error(`the gateway did not end within ${GONE_WITHIN_MS} ms\nstderr:\n${stderr().slice(-3000)}`);
}
