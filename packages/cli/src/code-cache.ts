import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The process that a cache is for. */
type Runtime = Pick<NodeJS.Process, 'env' | 'version' | 'arch' | 'pid' | 'getuid'>;

/** For all commands, and a few versions of Node. */
const MOST_KEPT = 16;

/** Write permission for others than the owner. */
const OTHERS_WRITE = 0o022;

/**
 * Keeps the compiled form of the command among the user's caches: a fifth of a boot was compiling. The engine itself
 * refuses a form of another engine, but takes the length of a text for the text: hence the hash in the name.
 */
export class CodeCache {
  readonly #runtime: Runtime;
  readonly #file: string | undefined;

  constructor(runtime: Runtime, hash: string) {
    const folder = cacheFolder(runtime.env);
    this.#runtime = runtime;
    this.#file =
      folder === undefined ? undefined : join(folder, `${hash}-${runtime.version}-${runtime.arch}`);
  }

  read(): Buffer | undefined {
    if (this.#file === undefined) return undefined;
    try {
      return this.#readOwn(this.#file);
    } catch {
      return undefined;
    }
  }

  /** A folder that cannot be written to means starting without. */
  store(create: () => Buffer): void {
    if (this.#file === undefined) return;
    const folder = dirname(this.#file);
    const fresh = `${this.#file}.${this.#runtime.pid}`;
    try {
      makeFolder(dirname(folder));
      makeFolder(folder);
      makeRoom(folder);
      writeFileSync(fresh, create(), { mode: 0o600, flag: 'wx' });
      renameSync(fresh, this.#file);
    } catch {
      // The next start tries again.
    }
  }

  /** What it holds is run: only a file that nobody else can have written is taken. */
  #readOwn(file: string): Buffer | undefined {
    // A pipe in its place must not hold up the start.
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(descriptor);
      const { uid, mode } = stat;
      const isOwn = stat.isFile() && (this.#runtime.getuid?.() ?? uid) === uid && (mode & OTHERS_WRITE) === 0;
      return isOwn ? readAll(descriptor, stat.size) : undefined;
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Reads a file of this size, undefined where it has become shorter. With fewer steps than `readFileSync`, which every start would compile. */
function readAll(descriptor: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(size);
  return readSync(descriptor, bytes, 0, size, 0) === size ? bytes : undefined;
}

function makeFolder(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
}

/** The oldest go: they are of versions that are used no more, or soon made again. */
function makeRoom(folder: string): void {
  const age = (file: string): number => statSync(file).mtimeMs;
  const files = readdirSync(folder).map((name) => join(folder, name));
  const surplus = files.length - MOST_KEPT + 1;
  if (surplus <= 0) return;
  const byAge = files.map((file) => [file, age(file)] as const).sort(([, a], [, b]) => a - b);
  for (const [file] of byAge.slice(0, surplus)) rmSync(file, { force: true });
}

/** Where the system wants programs to keep what can be made again. */
function cacheFolder({ XDG_CACHE_HOME, HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string | undefined {
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'weir');
  if (HOME && isAbsolute(HOME)) return join(HOME, '.cache', 'weir');
  return LOCALAPPDATA ? join(LOCALAPPDATA, 'weir', 'cache') : undefined;
}
