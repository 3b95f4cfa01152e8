import { lstatSync, readlinkSync, realpathSync, watch, type FSWatcher } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fingerprint } from './fingerprint.ts';

export interface WatchOptions {
  /** The fingerprint of what is known of the file: it may have changed before it was watched. */
  readonly known: string;
  /** Called once it has changed and has stayed as it is for a moment. */
  changed(): void;
  /** It cannot be watched (any more). */
  failed(reason: string): void;
  /** Two looks at the file so many milliseconds apart must see the same. */
  readonly lookMs?: number;
}

/** As many links as a path may lead through. */
const MOST_LINKS = 40;

/**
 * Watches a file, whoever replaces it and however. Its folder is watched, and that of every link on the way to it:
 * a watch on the file itself would stay with what editors move out of the way.
 */
export function watchFile(path: string, options: WatchOptions): { close(): void } {
  return new FileWatch(path, options);
}

class FileWatch {
  readonly #path: string;
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #known: string;
  #seen: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string, options: WatchOptions) {
    this.#path = path;
    this.#options = options;
    this.#known = options.known;
    this.#seen = options.known;
    this.#watchFolders();
    this.#lookLater();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #watchFolders(): void {
    const folders = foldersOf(this.#path);
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  #watch(folder: string): void {
    const failed = (error: Error): void => {
      this.#watchers.get(folder)?.close();
      this.#watchers.delete(folder);
      this.#options.failed(error.message);
    };
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookLater());
      this.#watchers.set(folder, watcher.on('error', failed));
    } catch (error) {
      failed(error as Error);
    }
  }

  /** Not put off by further events: in a busy folder there is always one more. */
  #lookLater(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#options.lookMs ?? 100).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const found = fingerprint(this.#path);
    const isStill = found === this.#seen;
    this.#seen = found;
    // Somebody may still be writing.
    if (!isStill) return this.#lookLater();
    if (found === this.#known) return;
    this.#known = found;
    this.#watchFolders();
    this.#options.changed();
  }
}

/** The folders in which the file, or a link on the way to it, can be replaced. */
function foldersOf(path: string): Set<string> {
  const folders = new Set<string>();
  let at = resolve(path);
  for (let links = 0; links < MOST_LINKS; links++) {
    folders.add(realFolder(dirname(at)));
    const next = linkTarget(at);
    if (next === undefined) break;
    at = next;
  }
  return folders;
}

/** A folder may be a link itself, and lead elsewhere later. */
function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? resolve(dirname(path), readlinkSync(path)) : undefined;
  } catch {
    return undefined;
  }
}
