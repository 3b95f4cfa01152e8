import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Log } from '@weir/gateway';

/** What may wait to be written before lines are dropped: nobody who does not read may fill the memory. */
const LARGEST_BACKLOG = 1024 * 1024;

export interface CliLog extends Log {
  /** Waits until everything is written. */
  close(): Promise<void>;
}

export interface LogOptions {
  readonly debug: boolean;
  readonly file: string | undefined;
  readonly stderr: Writable;
  readonly now: () => Date;
}

/** Logs to a file, or to stderr: stdout belongs to the protocol. */
export function createLog({ debug, file, stderr, now }: LogOptions): CliLog {
  const stream: Writable = file === undefined ? stderr : createWriteStream(file, { flags: 'a', mode: 0o600 });
  stream.on('error', (error: Error) => {
    // A log that cannot be written is no reason to stop; stderr is where this can still be said.
    if (file !== undefined) stderr.write(`weir: cannot write to the log file ${file}: ${error.message}\n`);
  });
  let dropped = 0;
  const write = (level: string, text: string): void => {
    if (stream.writableLength > LARGEST_BACKLOG) return void dropped++;
    const note = dropped > 0 ? ` (${dropped} lines before this one were dropped)` : '';
    dropped = 0;
    stream.write(`${now().toISOString()} ${level} ${text}${note}\n`);
  };
  return {
    ...(debug && { debug: (text: string) => write('debug', text) }),
    info: (text) => write('info', text),
    warn: (text) => write('warn', text),
    error: (text) => write('error', text),
    close: () => (file === undefined ? Promise.resolve() : new Promise((resolve) => void stream.end(resolve))),
  };
}
