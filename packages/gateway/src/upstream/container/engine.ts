import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { escapeUnsafe } from '../../log.ts';

/** Output of the `docker` command. */
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
/** Bytes of a command's output that are kept. */
const MOST_OUTPUT = 16 * 1024 * 1024;

/** The container engine, by way of the `docker` command: it knows contexts, credentials and where the engine is. */
export class Engine {
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly command = 'docker';
  /** Containers whose removal has not succeeded. */
  readonly #unremoved = new Set<string>();
  readonly #commands = new Set<ChildProcess>();

  constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
  }

  /** Runs the command and returns its output; rejects with an `EngineError` where it fails. */
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

/** The container engine could not do what it was asked; the message is the end of a sentence about a server. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** The command's own words. */
  readonly said: string;

  constructor(message: string, said = '') {
    super(message);
    this.said = said;
  }
}

function noCommand(): EngineError {
  return new EngineError(
    'the command "docker" was not found; install Docker, or Podman with its "docker" command, or add its folder to PATH',
  );
}

/** Explanations and remedies, by the words of the command or the engine. */
const KNOWN: readonly (readonly [RegExp, (said: string) => string])[] = [
  [
    /permission denied.*(?:socket|connect|daemon)/i,
    () =>
      'this user may not use the container engine; join its group (often "docker"), or use an engine of your own',
  ],
  [
    /cannot connect to|error during connect|is the docker daemon running|connection refused|unable to connect to podman/i,
    (said) =>
      `the container engine cannot be reached; start it, or check DOCKER_HOST and "docker context ls" (${said})`,
  ],
  [
    /(?:no such image|image not known|unable to find image)/i,
    (said) => `there is no such image here (${said}); pull or build it, or check its name`,
  ],
  [
    /invalid reference format/i,
    (said) => `that is not the name of an image (${said}); write it as in "mcp/time:1.2"`,
  ],
  [
    /executable file not found|exec .* failed: no such file/i,
    (said) => `the image has no such command (${said}); correct "command" or "args"`,
  ],
  [
    /network .* not found/i,
    (said) => `the engine has no such network (${said}); create it, or correct "network"`,
  ],
  [
    /bind source path does not exist|no such file or directory/i,
    (said) => `a source in "volumes" does not exist (${said})`,
  ],
];

/** Turns the words of the command into an error that says what to do. */
export function explainEngine(stderr: string): EngineError {
  const said = stderrTail(stderr);
  const [, explain] = KNOWN.find(([pattern]) => pattern.test(stderr)) ?? [];
  return new EngineError(explain?.(said) ?? `the container engine refused: ${said}`, stderr);
}

/** Why a published port could not be had; undefined where it was something else. */
export function takenPort(
  stderr: string,
): { readonly port: number; readonly by: 'container' | 'program' } | undefined {
  const by = /port is already allocated/i.test(stderr)
    ? 'container'
    : /address already in use/i.test(stderr)
      ? 'program'
      : undefined;
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1]);
  return by === undefined || !Number.isInteger(port) ? undefined : { port, by };
}

/** The line that says why; warnings and hints around it are left out. */
function stderrTail(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const telling = lines.filter(
    (line) => line !== '' && !/^(?:warning|see '|run 'docker|error: failed to start)/i.test(line),
  );
  const line = telling.at(-1) ?? 'it gave no reason';
  return escapeUnsafe(line.replace(/^(?:docker: )?Error response from daemon: /, '')).slice(0, 500);
}
