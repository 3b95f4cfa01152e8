import { existsSync, lstatSync, readlinkSync, statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
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
  /** Those that cannot be watched included. */
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
    // Somebody changes them this very moment, or may look at them no more; more will be heard of them.
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

  /** Not put off by further events: in a busy folder there is always one more. */
  #lookLater(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#options.lookMs ?? 100).unref();
  }

  #look(): void {
    this.#timer = undefined;
    // A folder may have been exchanged as a whole. First this: what changes afterwards is told of.
    this.#watchFolders();
    const found = fingerprint(this.#path);
    const isStill = found === this.#seen;
    this.#seen = found;
    // Somebody may still be writing.
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

/** The folders in which the file, or a link on the way to it, can be replaced. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  let at = resolve(path);
  for (let links = 0; links < MOST_LINKS; links++) {
    const link = stepsTo(at).find(isLink);
    if (link === undefined) return [...folders, nearestFolder(dirname(at))];
    // Folders at the root are the system's, and to watch that may be to watch everything.
    if (link === at || dirname(link) !== parse(link).root) folders.push(dirname(link));
    at = resolve(dirname(link), readlinkSync(link), relative(link, at));
  }
  return folders;
}

/** Every folder on the way and the file itself. */
function stepsTo(path: string): string[] {
  const { root } = parse(path);
  const parts = relative(root, path).split(sep);
  return parts.map((_, last) => join(root, ...parts.slice(0, last + 1)));
}

/** One that is missing may be made again. */
function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

/** Another folder in the place of one is not the same. */
function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder);
  return [folder, dev, ino].join();
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
