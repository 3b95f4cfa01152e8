import { describe, expect, test } from 'vitest';
import { requirements } from './requirements.ts';
import { sourceFiles } from './source-files.ts';

interface Citation {
  readonly id: string;
  readonly file: string;
  /** A `verifies.fails` says that something is broken; it proves nothing. */
  readonly proof: boolean;
}

// This file's own examples are no citations.
const citations = [...sourceFiles('packages', /\.test\.ts$/), ...sourceFiles('tests', /\.test\.ts$/)]
  .filter(({ path }) => path !== 'tests/requirements.test.ts')
  .flatMap(({ path, text }) => citationsIn(text).map((citation) => ({ ...citation, file: path })));

describe('requirements and the tests that prove them', () => {
  test('every id is listed once, and says what is open exactly when something is', () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const unclear = requirements.filter(
      ({ status, open }) => (status === 'partial') !== (open !== undefined),
    );
    expect(unclear).toEqual([]);
  });

  test('every requirement that is done or begun is cited by a test', () => {
    const proved = new Set(citations.filter(({ proof }) => proof).map(({ id }) => id));
    const uncited = requirements.filter(({ id, status }) => status !== 'open' && !proved.has(id));
    expect(uncited.map(({ id, text }) => `${id}: ${text}`)).toEqual([]);
  });

  test('every citation names a known requirement, and none that counts as not begun', () => {
    const begun = new Set(requirements.filter(({ status }) => status !== 'open').map(({ id }) => id));
    const stray = citations.filter(({ id }) => !begun.has(id));
    expect(stray.map(({ id, file }) => `${id} in ${file}`)).toEqual([]);
  });
});

describe('how citations are found', () => {
  test.each([
    ["verifies('A-1', 'x', f)", ['A-1']],
    ["verifies(['A-1', 'B-2'], 'x', f)", ['A-1', 'B-2']],
    ["verifies(\n  ['A-1',\n 'B-2'],\n  'x')", ['A-1', 'B-2']],
    ["verifies.skipIf(reason)('A-1', 'x', f)", ['A-1']],
    ["test('verifies nothing', f)", []],
  ])('%s', (text, ids) => {
    expect(citationsIn(text)).toEqual(ids.map((id) => ({ id, proof: true })));
  });

  test('a known failure is a citation but no proof', () => {
    expect(citationsIn("verifies.fails('A-1', 'x', f)")).toEqual([{ id: 'A-1', proof: false }]);
  });
});

function citationsIn(text: string): Omit<Citation, 'file'>[] {
  const call = /\bverifies(?<fails>\.fails)?(?:\.skipIf\([^)]*\))?\(\s*(?<ids>\[[^\]]*\]|'[^']*')/g;
  return [...text.matchAll(call)].flatMap(({ groups }) =>
    [...(groups?.['ids'] ?? '').matchAll(/'([^']*)'/g)].map(([, id = '']) => ({
      id,
      proof: groups?.['fails'] === undefined,
    })),
  );
}
