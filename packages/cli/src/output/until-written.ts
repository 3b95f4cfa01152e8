import type { Writable } from 'node:stream';
import type { Run } from '../context.ts';
import { CliError } from '../errors.ts';

/** Makes a command wait until its whole output is read, however slowly, as by a person in a pager. */
export function untilWritten(run: Run): Run {
  return async (values, context) => {
    const { output } = context;
    const isUnread = brokenPipe(output);
    await run(values, { ...context, output, stopped: () => Promise.race([context.stopped(), isUnread]) });
    await Promise.race([written(output), isUnread]);
  };
}

/** Resolves when the reader stops reading, as `head` does; rejects when the output cannot be written, as on a full disk. */
function brokenPipe(output: Writable): Promise<void> {
  const broken = new Promise<void>((resolve, reject) => {
    output.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') resolve();
      else reject(new CliError(`Cannot write the output: ${message}`));
    });
  });
  broken.catch(() => {});
  return broken;
}

/** Resolves when everything is written; `brokenPipe` reports errors. */
function written(output: Writable): Promise<void> {
  return new Promise((resolve) => output.write('', (error) => error ?? resolve()));
}
