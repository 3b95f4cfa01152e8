import { escapeUnsafe } from '../../log.ts';

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

export function noCommand(): EngineError {
  return new EngineError(
    'the command "docker" was not found; install Docker, or Podman with its "docker" command, or add its folder to PATH',
  );
}

/** What is wrong and what to do, by what the command or the engine says. */
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
