import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { EngineError, explainEngine, noCommand } from './engine-error.ts';

/** What the `docker` command has said. */
interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AskOptions {
  readonly timeoutMs?: number;
  /** Variables for the command itself, beside those it always gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** A file that the command gets as its stdin. */
  readonly stdin?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A container, as far as we care. */
export interface Contained {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** An engine that hangs must not hang us. */
const COMMAND_TIMEOUT_MS = 60_000;
/** What a command says beyond this is of no use to anybody. */
const MOST_OUTPUT = 16 * 1024 * 1024;

/** The container engine, by way of the `docker` command: it knows contexts, credentials and where the engine is. */
export class Engine {
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly command = 'docker';
  /** Those that should be gone and are not, as far as we know. */
  readonly #unremoved = new Set<string>();
  readonly #commands = new Set<ChildProcess>();

  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
  }

  /** What the command prints; rejects with an `EngineError` where it fails. */
  async ask(args: readonly string[], options: AskOptions = {}): Promise<string> {
    const output = await this.#run(args, options);
    if (output.code === 0) return output.stdout.trim();
    throw explainEngine(output.stderr);
  }

  /** Those with this label, or with this label and value, in whatever state. */
  async find(label: string): Promise<Contained[]> {
    const ids = await this.ask(['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${label}`]);
    return ids === '' ? [] : this.#look(ids.split('\n'));
  }

  /** Ends a container at once and removes it; one that is gone already is as good. */
  async remove(id: string): Promise<void> {
    this.#unremoved.add(id);
    try {
      await this.ask(['rm', '--force', '--volumes', id]);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    this.#unremoved.delete(id);
  }

  /** Tries once more where it could not be reached, or refused. */
  async removeAgain(): Promise<void> {
    await Promise.allSettled([...this.#unremoved].map((id) => this.remove(id)));
  }

  /** SIGTERM, then SIGKILL. */
  async stop(id: string, seconds: number): Promise<void> {
    try {
      await this.ask(['stop', '-t', String(seconds), id]);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** Kills the commands that have not ended: the gateway waits for them no longer. */
  abandon(): void {
    for (const command of this.#commands) command.kill('SIGKILL');
  }

  /** One that ends between two questions is left out. */
  async #look(ids: readonly string[]): Promise<Contained[]> {
    const { stdout, stderr, code } = await this.#run(['inspect', '--type', 'container', ...ids], {});
    if (code !== 0 && !/no such/i.test(stderr)) throw explainEngine(stderr);
    return (JSON.parse(stdout || '[]') as Inspected[]).map(({ Id, Name, Config, State }) => ({
      id: Id,
      name: Name.replace(/^\//, ''),
      image: Config.Image,
      status: State.Status,
      labels: Config.Labels ?? {},
    }));
  }

  async #run(
    args: readonly string[],
    { timeoutMs = COMMAND_TIMEOUT_MS, env, stdin, signal }: AskOptions,
  ): Promise<Output> {
    const child = spawn(this.command, args, {
      env: { ...this.env, ...env },
      stdio: [stdin ?? 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      timeout: timeoutMs,
      signal,
    });
    this.#commands.add(child);
    child.once('close', () => this.#commands.delete(child));
    const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    try {
      const [exit, [stdout, stderr]] = await Promise.all([once(child, 'close'), texts]);
      const [code, ended] = exit as [number | null, NodeJS.Signals | null];
      if (ended === 'SIGTERM' && stderr === '')
        throw new EngineError(`the container engine did not answer within ${timeoutMs / 1000} s`);
      return { code, stdout, stderr };
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? noCommand() : error;
    }
  }
}

interface Inspected {
  readonly Id: string;
  readonly Name: string;
  readonly Config: { readonly Image: string; readonly Labels: Record<string, string> | null };
  readonly State: { readonly Status: string };
}

function isGone(error: unknown): boolean {
  return error instanceof EngineError && /no such container|removal .* already in progress/i.test(error.said);
}

async function textOf(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of (stream ?? []) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MOST_OUTPUT) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
