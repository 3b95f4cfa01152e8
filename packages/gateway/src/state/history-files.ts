import { promises as fs, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, readWhole, STATE_FILE } from '@weir/server/internal';

export interface HistoryFilesOptions {
  /** The state folder. */
  readonly state: string;
  readonly pid: number;
  readonly now: () => number;
  /** Gets the reason, once, when something cannot be written. */
  readonly onFailed: (reason: string) => void;
  readonly rules?: Partial<Rules>;
}

interface Rules {
  readonly largestFile: number;
  /** Bytes of all files together, those of other gateways too. */
  readonly largestFolder: number;
  readonly mostFiles: number;
}

const RULES: Rules = {
  largestFile: 4 * 1024 * 1024,
  largestFolder: 16 * 1024 * 1024,
  mostFiles: 256,
};

/** Characters that wait for a slow disk; more are dropped. */
const MOST_WAITING = 8 * 1024 * 1024;
/** Bytes of the buffer that is kept for the next write. */
const LARGEST_BUFFER = 512 * 1024;
const FILE = /^[\da-z]{9}-\d+\.jsonl$/u;

/** Keeps lines in the order in which they come. A store replaces values whole, which would cost more with each line. */
export interface AppendLog {
  append(lines: string): void;
  /** Resolves when all that has been appended is written, or cannot be. */
  flush(): Promise<void>;
}

/** Writes lines to files of this process alone, so that gateways never wait for each other. */
export class HistoryFiles implements AppendLog {
  readonly #options: HistoryFilesOptions;
  readonly #rules: Rules;
  readonly #folder: string;
  #waiting = '';
  #writing: Promise<void> | undefined;
  #file: string | undefined;
  #size = 0;
  #buffer: Buffer = Buffer.alloc(0);
  #hasFailed = false;

  constructor(options: HistoryFilesOptions) {
    this.#options = options;
    this.#rules = { ...RULES, ...options.rules };
    this.#folder = folderIn(options.state);
  }

  append(lines: string): void {
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting += lines;
    this.#writing ??= this.#writeWaiting();
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting !== '') {
      const text = this.#waiting;
      this.#waiting = '';
      try {
        await this.#write(text);
      } catch (error) {
        this.#failed(error as Error);
      }
    }
    this.#writing = undefined;
  }

  async #write(text: string): Promise<void> {
    const file = this.#file ?? this.#nextFile();
    try {
      await fs.appendFile(file, this.#encode(text), { mode: 0o600 });
    } catch (error) {
      // Empty files would push out those with content.
      if (sizeOf(file) === 0) rmSync(file, { force: true });
      throw error;
    }
    this.#size += Buffer.byteLength(text);
    if (this.#size >= this.#rules.largestFile) this.#file = undefined;
  }

  /** Encodes into one buffer, because the kernel has to map each new one first. */
  #encode(text: string): Buffer {
    const size = Buffer.byteLength(text);
    if (size > LARGEST_BUFFER) return Buffer.from(text);
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(size);
    this.#buffer.write(text);
    return this.#buffer.subarray(0, size);
  }

  #nextFile(): string {
    const { now, pid } = this.#options;
    makeFolder(this.#folder);
    this.#removeOldest();
    this.#size = 0;
    this.#file = join(this.#folder, `${now().toString(36).padStart(9, '0')}-${pid}.jsonl`);
    return this.#file;
  }

  /** Makes room for one more file. A gateway that still writes to a removed file creates it again. */
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

/** Returns the history in a state folder, oldest file first, without lines that are cut short or damaged. */
export function readHistory(state: string): unknown[] {
  return filesIn(folderIn(state)).flatMap((file) => readText(file).split('\n').flatMap(readLine));
}

function folderIn(state: string): string {
  return join(state, 'history');
}

/** Lists the files, oldest first: their names begin with the time. */
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
    return readWhole(file, STATE_FILE).toString('utf8');
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
