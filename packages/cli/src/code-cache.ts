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

/** Parts of the process that the cache needs. */
type Runtime = Pick<NodeJS.Process, 'env' | 'version' | 'arch' | 'pid' | 'getuid'>;

/** Files to keep: enough for all bundles and a few versions of Node. */
const MOST_KEPT = 16;

/** Write permission of group and others. */
const OTHERS_WRITE = 0o022;

/**
 * Keeps the compiled form of a bundle among the user's caches, because compiling took a fifth of a start. V8 itself rejects the
 * form of another version of V8, but compares only the length of the source: hence the hash in the file name.
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

  /** Stores the compiled form; without a writable folder the next start compiles again. */
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

  /** Reads a file only if no other user can have written it, because its content is executed. */
  #readOwn(file: string): Buffer | undefined {
    // Opens without blocking: a pipe in its place must not delay the start.
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

/** Reads a file of this size; undefined if it has become shorter. Takes fewer steps than `readFileSync`, which every start would compile. */
function readAll(descriptor: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafeSlow(size);
  return readSync(descriptor, bytes, 0, size, 0) === size ? bytes : undefined;
}

function makeFolder(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
}

/** Deletes the oldest files: they belong to unused versions, or a start creates them again. */
function makeRoom(folder: string): void {
  const age = (file: string): number => statSync(file).mtimeMs;
  const files = readdirSync(folder).map((name) => join(folder, name));
  const surplus = files.length - MOST_KEPT + 1;
  if (surplus <= 0) return;
  const byAge = files.map((file) => [file, age(file)] as const).sort(([, a], [, b]) => a - b);
  for (const [file] of byAge.slice(0, surplus)) rmSync(file, { force: true });
}

/** Returns the cache folder of the platform. */
function cacheFolder({ XDG_CACHE_HOME, HOME, LOCALAPPDATA }: NodeJS.ProcessEnv): string | undefined {
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'weir');
  if (HOME && isAbsolute(HOME)) return join(HOME, '.cache', 'weir');
  return LOCALAPPDATA ? join(LOCALAPPDATA, 'weir', 'cache') : undefined;
}
