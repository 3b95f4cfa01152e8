import { existsSync, lstatSync, readlinkSync, statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { fingerprint } from './fingerprint.ts';

export interface WatchOptions {
  /** Fingerprint of the text that was read: the file may have changed since. */
  readonly known: string;
  /** Called when the file has changed and then stayed the same for a moment. */
  changed(): void;
  /** Called when a folder cannot be watched, at the start or later. */
  failed(reason: string): void;
  /** Milliseconds between two looks at the file that must agree. */
  readonly lookMs?: number;
}

/** Symbolic links in a path that Linux follows. */
const MOST_LINKS = 40;

/**
 * Watches a file, however it is replaced. Watches its folder and that of every link on the way, because a watch on the file
 * itself would stay with the old file that editors move away.
 */
export function watchFile(path: string, options: WatchOptions): { close(): void } {
  return new FileWatch(path, options);
}

class FileWatch {
  readonly #path: string;
  readonly #options: WatchOptions;
  /** Watchers by folder; undefined for a folder that cannot be watched. */
  readonly #watchers = new Map<string, FSWatcher | undefined>();
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
    for (const watcher of this.#watchers.values()) watcher?.close();
  }

  #watchFolders(): void {
    const folders = foldersNow(this.#path);
    // A folder is being replaced or has become unreadable; a later event looks again.
    if (folders === undefined) return;
    for (const [identity, watcher] of this.#watchers) {
      if (folders.has(identity)) continue;
      watcher?.close();
      this.#watchers.delete(identity);
    }
    for (const [identity, folder] of folders)
      if (!this.#watchers.has(identity)) this.#watch(identity, folder);
  }

  #watch(identity: string, folder: string): void {
    const failed = (error: Error): void => {
      this.#watchers.get(identity)?.close();
      this.#watchers.set(identity, undefined);
      this.#options.failed(error.message);
    };
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#lookLater());
      this.#watchers.set(identity, watcher.on('error', failed));
    } catch (error) {
      failed(error as Error);
    }
  }

  /** Starts a timer that later events do not restart, because a busy folder always has another event. */
  #lookLater(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#options.lookMs ?? 100).unref();
  }

  #look(): void {
    this.#timer = undefined;
    // Renews the watches first, because a folder may have been replaced: later changes then cause an event.
    this.#watchFolders();
    const found = fingerprint(this.#path);
    const isStill = found === this.#seen;
    this.#seen = found;
    // A process may still be writing.
    if (!isStill) return this.#lookLater();
    if (found === this.#known) return;
    this.#known = found;
    this.#options.changed();
  }
}

function foldersNow(path: string): Map<string, string> | undefined {
  try {
    return new Map(foldersOf(path).map((folder) => [identityOf(folder), folder]));
  } catch {
    return undefined;
  }
}

/** Returns the folders in which the file, or a link on the way to it, can be replaced. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  let at = resolve(path);
  for (let links = 0; links < MOST_LINKS; links++) {
    const link = stepsTo(at).find(isLink);
    if (link === undefined) return [...folders, nearestFolder(dirname(at))];
    // Links in the root folder belong to the system, and watching the root may mean watching everything.
    if (link === at || dirname(link) !== parse(link).root) folders.push(dirname(link));
    at = resolve(dirname(link), readlinkSync(link), relative(link, at));
  }
  return folders;
}

/** Returns every folder on the way and the file itself. */
function stepsTo(path: string): string[] {
  const { root } = parse(path);
  const parts = relative(root, path).split(sep);
  return parts.map((_, last) => join(root, ...parts.slice(0, last + 1)));
}

/** Returns the folder or the nearest parent that exists, because a missing folder may be created later. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Tells a folder apart from another one in its place. */
function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder);
  return [folder, dev, ino].join();
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
