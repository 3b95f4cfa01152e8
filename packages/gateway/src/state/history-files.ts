import { promises as fs, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

export interface HistoryFilesOptions {
  /** The state folder. */
  readonly state: string;
  readonly pid: number;
  readonly now: () => number;
  /** Told once, when something cannot be written. */
  readonly onFailed: (reason: string) => void;
  readonly rules?: Partial<Rules>;
}

interface Rules {
  /** Lines wait this long for others to be written with. */
  readonly batchMs: number;
  readonly largestFile: number;
  /** All files together, those of other gateways too. */
  readonly largestFolder: number;
  readonly mostFiles: number;
}

const RULES: Rules = {
  batchMs: 250,
  largestFile: 4 * 1024 * 1024,
  largestFolder: 16 * 1024 * 1024,
  mostFiles: 256,
};

interface Entry {
  line(): string;
}

/** Lines of one turn: putting them together holds up calls. */
const LINES_AT_ONCE = 500;
/** What may wait for a disk that is slower than the calls. */
const MOST_WAITING = 20_000;
const FILE = /^[\da-z]{9}-\d+\.jsonl$/u;

/** Keeps lines in files of this process alone, so that gateways never get in each other's way. */
export class HistoryFiles {
  readonly #options: HistoryFilesOptions;
  readonly #rules: Rules;
  readonly #folder: string;
  #waiting: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #file: string | undefined;
  #size = 0;
  #hasFailed = false;

  constructor(options: HistoryFilesOptions) {
    this.#options = options;
    this.#rules = { ...RULES, ...options.rules };
    this.#folder = folderIn(options.state);
  }

  /** Its line is asked for later; adding one costs nothing. */
  add(entry: Entry): void {
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(entry);
    this.#timer ??= setTimeout(() => void this.flush(), this.#rules.batchMs).unref();
    // Entries that wait long cost more to keep than to write.
    if (this.#waiting.length >= LINES_AT_ONCE) void this.#begin(LINES_AT_ONCE);
  }

  /** Resolves when all that has been added is written, or cannot be. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    await this.#begin(1);
  }

  #begin(least: number): Promise<void> {
    this.#writing ??= this.#writeAll(least).finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  /** Writes until fewer than so many wait. */
  async #writeAll(least: number): Promise<void> {
    // Not in the middle of a call.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length >= least) {
      const lines = this.#waiting.splice(0, LINES_AT_ONCE).map((entry) => `${entry.line()}\n`);
      try {
        await this.#write(lines.join(''));
      } catch (error) {
        this.#failed(error as Error);
      }
    }
  }

  async #write(text: string): Promise<void> {
    const file = this.#file ?? this.#nextFile();
    await fs.appendFile(file, text, { mode: 0o600 });
    this.#size += Buffer.byteLength(text);
    if (this.#size >= this.#rules.largestFile) this.#file = undefined;
  }

  #nextFile(): string {
    const { now, pid } = this.#options;
    makeFolder(this.#folder);
    this.#removeOldest();
    this.#size = 0;
    this.#file = join(this.#folder, `${now().toString(36).padStart(9, '0')}-${pid}.jsonl`);
    return this.#file;
  }

  /** Room for one more. Whoever still writes to a file that goes makes it anew. */
  #removeOldest(): void {
    const { largestFolder, largestFile, mostFiles } = this.#rules;
    let room = largestFolder - largestFile;
    const newestFirst = filesIn(this.#folder).toReversed();
    newestFirst.forEach((file, index) => {
      room -= sizeOf(file);
      if (room < 0 || index >= mostFiles - 1) rmSync(file, { force: true });
    });
  }

  #failed({ message }: Error): void {
    this.#file = undefined;
    if (!this.#hasFailed) this.#options.onFailed(message);
    this.#hasFailed = true;
  }
}

/** All that is kept in a state folder, oldest file first; what is no whole line of JSON is passed over. */
export function readHistory(state: string): unknown[] {
  return filesIn(folderIn(state)).flatMap((file) => readText(file).split('\n').flatMap(readLine));
}

function folderIn(state: string): string {
  return join(state, 'history');
}

/** Their names begin with the time, so that they sort by it. */
function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => FILE.test(name));
    return names.toSorted().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function readLine(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)];
  } catch {
    return [];
  }
}
