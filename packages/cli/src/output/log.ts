import { closeSync, constants, createWriteStream, fstatSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Log } from '@weir/gateway';
import { timestamp } from './timestamp.ts';

/** Bytes that may wait to be written; beyond them lines are dropped, because a reader that stops must not fill the memory. */
const LARGEST_BACKLOG = 1024 * 1024;

export interface CliLog extends Log {
  /** Returns false if the lines go to stderr. */
  isFile(): boolean;
  /** Waits until everything is written. */
  close(): Promise<void>;
}

export interface LogOptions {
  readonly debug: boolean;
  readonly file: string | undefined;
  /** Opens stderr at the first line, because that takes time and most starts log nothing. */
  readonly stderr: () => Writable;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Logs to a file or to stderr, because stdout carries the protocol. */
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

/** Writes lines to the log file; falls back to stderr if that fails, so that the gateway keeps running. */
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
    // A closed stderr leaves no place to report this error.
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

/** Opens a pipe without waiting for its reader; Windows has no such flag. */
const APPEND: number =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Opens a file, a device such as /dev/null, or a pipe; throws for a pipe without a reader. */
function openStream(file: string): Writable {
  const fd = openSync(file, APPEND, 0o600);
  const stat = fstatSync(fd);
  if (stat.isFile()) return createWriteStream(file, { fd });
  // Writing a full pipe as a file blocks a thread of Node's pool or fails; a socket waits.
  if (stat.isFIFO()) return new (process.getBuiltinModule('node:net').Socket)({ fd, readable: false });
  closeSync(fd);
  if (!stat.isCharacterDevice()) throw new Error(`${file} is not a file`);
  return createWriteStream(file, { fd: openSync(file, 'a') });
}
