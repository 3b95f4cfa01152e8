import { closeSync, constants, createWriteStream, fstatSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Log } from '@weir/gateway';
import { timestamp } from './timestamp.ts';

/** What may wait to be written before lines are dropped: nobody who does not read may fill the memory. */
const LARGEST_BACKLOG = 1024 * 1024;

export interface CliLog extends Log {
  /** False where the lines are to be seen on stderr. */
  isFile(): boolean;
  /** Waits until everything is written. */
  close(): Promise<void>;
}

export interface LogOptions {
  readonly debug: boolean;
  readonly file: string | undefined;
  /** Called when the first line is written to it: opening it takes part of every start, and most starts log nothing. */
  readonly stderr: () => Writable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Logs to a file, or to stderr: stdout belongs to the protocol. */
export function createLog({ debug, file, stderr, now }: LogOptions): CliLog {
  const output = new Output(file, stderr);
  const write = (level: string, text: string): void => output.write(`${timestamp(now())} ${level} ${text}`);
  return {
    ...(debug && { debug: (text: string) => write('debug', text) }),
    info: (text) => write('info', text),
    warn: (text) => write('warn', text),
    error: (text) => write('error', text),
    isFile: () => output.isFile,
    close: () => output.close(),
  };
}

/** Where the lines go. A log file that cannot be written is no reason to stop: stderr takes over. */
class Output {
  readonly #openStderr: () => Writable;
  #stderr: Writable | undefined;
  #file: Writable | undefined;
  #dropped = 0;

  constructor(file: string | undefined, stderr: () => Writable) {
    this.#openStderr = stderr;
    if (file !== undefined) this.#open(file);
  }

  get isFile(): boolean {
    return this.#file !== undefined;
  }

  write(line: string): void {
    const stream = this.#file ?? this.#errors();
    if (stream.writableLength > LARGEST_BACKLOG) return void this.#dropped++;
    const note = this.#dropped === 0 ? '' : ` (${this.#dropped} lines before this one were dropped)`;
    this.#dropped = 0;
    stream.write(`${line}${note}\n`);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#file === undefined) resolve();
      else this.#file.end(() => resolve());
    });
  }

  #errors(): Writable {
    // A host that has stopped reading our stderr cannot be told so.
    this.#stderr ??= this.#openStderr().on('error', () => {});
    return this.#stderr;
  }

  #open(file: string): void {
    try {
      this.#file = openStream(file).on('error', (error) => this.#fallBack(file, error));
    } catch (error) {
      this.#fallBack(file, error as Error);
    }
  }

  #fallBack(file: string, { message }: Error): void {
    this.#file = undefined;
    this.#errors().write(`Cannot write to the log file ${file}, logging here instead: ${message}\n`);
  }
}

/** Opening must not wait for a process that reads from a pipe; Windows has no such flag. */
const APPEND: number =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Opens a file, a device such as /dev/null, or a pipe that a process reads from; throws for a pipe that none does. */
function openStream(file: string): Writable {
  const fd = openSync(file, APPEND, 0o600);
  const stat = fstatSync(fd);
  if (stat.isFile()) return createWriteStream(file, { fd });
  // A full pipe would block a thread of Node's pool, or fail: sockets wait for it.
  if (stat.isFIFO()) return new (process.getBuiltinModule('node:net').Socket)({ fd, readable: false });
  closeSync(fd);
  if (!stat.isCharacterDevice()) throw new Error(`${file} is not a file`);
  return createWriteStream(file, { fd: openSync(file, 'a') });
}
