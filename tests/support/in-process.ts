// The gateway as a library, inside the test: the same lines as through the command, without a process between.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import {
  createGateway,
  serveStdio,
  type Gateway,
  type GatewayOptions,
  type Log,
  type McpConfig,
} from '@weir/gateway';
import {
  GONE_WITHIN_MS,
  isSettledWithin,
  modernMeta,
  temporaryFolder,
  type Era,
  type ServerEntry,
} from './harness.ts';
import { LineClient, type Json, type Received } from './line-client.ts';

export interface InProcessOptions extends Omit<GatewayOptions, 'log' | 'env'> {
  /** Keys of the config beside the servers. */
  readonly config?: Omit<McpConfig, 'mcpServers'>;
  /** The group that the client sees; servers outside it run as well, so that a test can look at what they do. */
  readonly group?: string;
}

/** Serves one raw client over a pair of streams; `await using` ends it with the test. */
export function serveInProcess(
  servers: Record<string, ServerEntry>,
  options: InProcessOptions = {},
): InProcess {
  return new InProcess(servers, options);
}

export class InProcess extends LineClient implements AsyncDisposable {
  readonly gateway: Gateway;
  /** Every line of the log. */
  readonly logged: string[];
  /** Settles as `serveStdio` does. */
  readonly served: Promise<void>;
  readonly input: PassThrough;
  readonly output: PassThrough;

  constructor(servers: Record<string, ServerEntry>, options: InProcessOptions) {
    const logged: string[] = [];
    const [input, output] = [new PassThrough(), new PassThrough()];
    const gateway = createTestGateway(servers, options, logged);
    const served = serveStdio(gateway, {
      input,
      output,
      serverInfo: { name: 'weir', version: '1.0.0' },
      group: options.group,
    });
    super({ input, output, over: served });
    this.gateway = gateway;
    this.logged = logged;
    this.served = served;
    this.input = input;
    this.output = output;
    // A test that expects the start to fail awaits it; the others learn of it through their requests.
    served.catch(() => {});
  }

  /** Ends it as a client does; throws where it does not end in time. */
  async close(): Promise<void> {
    this.input.end();
    if (await isSettledWithin(GONE_WITHIN_MS, this.served)) return;
    throw new Error(`the gateway did not end within ${GONE_WITHIN_MS} ms\n${this.story()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected override story(): string {
    return `${super.story()}\nlog:\n${this.logged.slice(-20).join('\n')}`;
  }
}

/** A gateway over these servers that reads nothing of the test's own environment but PATH. */
export function createTestGateway(
  servers: Record<string, ServerEntry>,
  { config, group: _group, ...options }: InProcessOptions = {},
  logged: string[] = [],
): Gateway {
  const state = join(temporaryFolder(), 'state');
  const env = { PATH: process.env['PATH'], HOME: state };
  return createGateway(
    { ...config, mcpServers: servers },
    { state, version: '9.9.9', ...options, env, log: logTo(logged) },
  );
}

function logTo(lines: string[]): Log {
  const write = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Sends a request as a client of this era does, and waits for its answer. */
export type Ask = (method: string, params?: Json, meta?: Json) => Promise<Received>;

/** Opens the conversation in this era; `capabilities` are what the client can do. */
export async function open(client: LineClient, era: Era, capabilities: Json = {}): Promise<Ask> {
  if (era === 'legacy') await client.initialize(capabilities);
  return (method, params = {}, meta) => {
    if (era === 'modern') return client.request(method, { ...params, ...modernMeta(capabilities, meta) });
    return client.request(method, { ...params, ...(meta && { _meta: meta }) });
  };
}

/** A fixture that notes each of its starts in a file, and how many those were. */
export function counted(entry: ServerEntry): { entry: ServerEntry; starts: () => number } {
  const file = join(temporaryFolder(), 'starts');
  const [script = '', ...args] = entry.args ?? [];
  const program = `
    import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(file)}, 'x');
    process.argv.splice(1, 0, ${JSON.stringify(script)});
    await import(${JSON.stringify(pathToFileURL(script).href)});`;
  return {
    entry: { command: process.execPath, args: ['--input-type=module', '-e', program, '--', ...args] },
    starts: () => (existsSync(file) ? readFileSync(file, 'utf8').length : 0),
  };
}

/** A fixture that begins to live only after so many milliseconds. */
export function delayed(milliseconds: number, entry: ServerEntry): ServerEntry {
  const [script = '', ...args] = entry.args ?? [];
  const program = `
    await new Promise((resolve) => setTimeout(resolve, ${milliseconds}));
    process.argv.splice(1, 0, ${JSON.stringify(script)});
    await import(${JSON.stringify(pathToFileURL(script).href)});`;
  return { command: process.execPath, args: ['--input-type=module', '-e', program, '--', ...args] };
}
