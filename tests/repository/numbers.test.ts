import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/source-files.ts';

/** Function calls between the dispatch of a `tools/call` and its id for the server; may only go down. */
const MOST_CALLS = 5;

test('npm run numbers measures the path of a call', () => {
  const page = execFileSync(process.execPath, [join(root, 'scripts', 'numbers.mjs')], { encoding: 'utf8' });
  const cell = (label: string): number => Number(new RegExp(`^\\| ${label} \\| (\\d+)`, 'm').exec(page)?.[1]);
  expect(cell('calls between dispatch and the id')).toBeLessThanOrEqual(MOST_CALLS);
  expect(cell('files on the path of a call')).toBeGreaterThan(0);
  expect(cell('functions')).toBeGreaterThan(0);
});
