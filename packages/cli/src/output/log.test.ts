import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { createLog, type CliLog } from './log.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const now = (): number => Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const TIME = '2026-01-02T03:04:05.006Z';

function logTo(stderr: Writable, options: { debug?: boolean; file?: string } = {}): CliLog {
  return createLog({ debug: options.debug ?? false, file: options.file, stderr: () => stderr, now });
}

function textOf(stream: PassThrough): string {
  return String((stream.read() as Buffer | null) ?? '');
}

verifies('AGG-CLI-2', 'a log line holds its time, its level and its text', () => {
  const stderr = new PassThrough();
  const log = logTo(stderr, { debug: true });
  log.debug?.('one');
  log.info('two');
  log.warn('three');
  log.error('four');
  expect(textOf(stderr)).toBe(
    `${TIME} debug one\n${TIME} info two\n${TIME} warn three\n${TIME} error four\n`,
  );
  expect(log.isFile()).toBe(false);
});

verifies('AGG-CLI-2', 'a log without --debug builds no debug texts', () => {
  expect(logTo(new PassThrough()).debug).toBeUndefined();
});

verifies(
  'AGG-CLI-2',
  'log lines are appended to a file that only its owner can read, and not to stderr',
  async () => {
    const file = join(folder, 'weir.log');
    const stderr = new PassThrough();
    for (const text of ['first run', 'second run']) {
      const log = logTo(stderr, { file });
      expect(log.isFile()).toBe(true);
      log.info(text);
      await log.close();
    }
    expect(readFileSync(file, 'utf8')).toBe(`${TIME} info first run\n${TIME} info second run\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(textOf(stderr)).toBe('');
  },
);

verifies(
  'AGG-CLI-2',
  'log lines go to stderr, after a notice, if the log file cannot be written',
  async () => {
    const file = join(folder, 'missing', 'weir.log');
    const stderr = new PassThrough();
    const log = logTo(stderr, { file });
    log.info('not lost');
    await log.close();
    const [notice, line] = textOf(stderr).split('\n');
    expect(notice).toContain(`Cannot write to the log file ${file}, logging here instead: ENOENT`);
    expect(line).toBe(`${TIME} info not lost`);
    expect(log.isFile()).toBe(false);
  },
);

test('log lines are dropped and counted while stderr is not read', () => {
  const written: string[] = [];
  let goOn: () => void = () => {};
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(String(chunk));
      goOn = done;
    },
  });
  const log = logTo(stderr);
  const long = 'x'.repeat(100_000);
  for (let count = 0; count < 100; count++) log.info(long);
  expect(stderr.writableLength).toBeLessThan(1_300_000);
  while (stderr.writableLength > 0) goOn();
  const kept = written.length;
  log.warn('reading again');
  expect(written.at(-1)).toBe(
    `${TIME} warn reading again (${100 - kept} lines before this one were dropped)\n`,
  );
});

test('a log on a broken stderr throws no error', () => {
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const log = logTo(stderr);
  expect(() => log.info('into the void')).not.toThrow();
});
