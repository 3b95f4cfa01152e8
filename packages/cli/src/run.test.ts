import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { UsageError } from './errors.ts';
import { start } from './run.ts';

const before = { exitCode: process.exitCode, argv: process.argv };
const written: string[] = [];

beforeEach(() => {
  written.length = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(process, before);
});

/** Returns the exit code of a command that ends like this. */
async function exitCodeOf(stdio: () => Promise<void>, argv = ['--config', 'mcp.json']): Promise<unknown> {
  const ended = new Promise<void>((resolve) => {
    vi.spyOn(process, 'exit').mockImplementation((() => resolve()) as typeof process.exit);
  });
  vi.spyOn(process.stdout, 'write').mockImplementation(((_text: string, done: () => void) => {
    done();
    return true;
  }) as typeof process.stdout.write);
  vi.useFakeTimers();
  process.argv = ['node', 'weir', ...argv];
  start<'stdio'>({ stdio });
  await ended;
  vi.useRealTimers();
  return process.exitCode;
}

verifies(
  ['AGG-CLI-1', 'AGG-CHILD-3'],
  'a command ends with 0, 1 for a failure and 2 for wrong usage',
  async () => {
    expect(await exitCodeOf(() => Promise.resolve())).toBe(0);
    expect(await exitCodeOf(() => Promise.reject(new Error('the server did not start')))).toBe(1);
    expect(await exitCodeOf(() => Promise.reject(new UsageError('Unknown option: --x')))).toBe(2);
    expect(await exitCodeOf(() => Promise.resolve(), ['--bogus'])).toBe(2);
    expect(written.join('')).toContain('the server did not start\n');
    expect(written.join('')).toContain('Unknown option: --x\n\nUsage: weir --config FILE [options]\n');
  },
);
