import { describe, expect, test } from 'vitest';
import { requirements, type Requirement } from '../requirements.ts';
import { idsOf, judgeProofs, type Outcome } from '../support/proofs.ts';
import { sourceFiles } from '../support/source-files.ts';

describe('the list of requirements', () => {
  test('the list of requirements has every id once, and "open" only for partial ones', () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const unclear = requirements.filter(
      ({ status, open }) => (status === 'partial') !== (open !== undefined),
    );
    expect(unclear).toEqual([]);
  });

  // Only a whole run knows which tests passed. Ids that are written out can be compared at once.
  test('every id in a test is a requirement that is begun or done', () => {
    const begun = requirements.filter(({ status }) => status !== 'open').map(({ id }) => id);
    const tests = [...sourceFiles('packages', /\.test\.ts$/), ...sourceFiles('tests', /\.test\.ts$/)];
    const stray = tests
      .filter(({ path }) => path !== 'tests/repository/requirements.test.ts')
      .flatMap(({ path, text }) => idsIn(text).map((id) => ({ id, path })))
      .filter(({ id }) => !begun.includes(id));
    expect(stray).toEqual([]);
  });

  test.each([
    ["verifies('A-1', 'x', f)", ['A-1']],
    ["verifies(['A-1', 'B-2'], 'x', f)", ['A-1', 'B-2']],
    ["verifies(\n  ['A-1',\n 'B-2'],\n  'x')", ['A-1', 'B-2']],
    ["verifies.skipIf(reason)('A-1', 'x', f)", ['A-1']],
    ["verifies.fails('A-1', 'x', f)", ['A-1']],
    ["test('verifies nothing', f)", []],
  ])('idsIn finds the ids in %s', (text, ids) => {
    expect(idsIn(text)).toEqual(ids);
  });
});

describe('a requirement', () => {
  const list: readonly Requirement[] = [
    { id: 'A-1', text: '', status: 'done' },
    { id: 'B-X-2', text: '', status: 'partial', open: 'more' },
    { id: 'C-3', text: '', status: 'open' },
  ];

  test('a passed test proves a requirement, wherever its title comes from', () => {
    const helper = (id: string): Outcome => passed(`[${id}] by a helper`);
    expect(judgeProofs(list, ['A-1', 'B-X-2'].map(helper))).toEqual({
      proved: ['A-1', 'B-X-2'],
      unprovenHere: [],
      unproved: [],
      stray: [],
    });
  });

  test('a requirement is unproven on this machine where its tests were skipped', () => {
    const skipped = { ...passed('[A-1] needs a container engine'), state: 'skipped' } as const;
    expect(judgeProofs(list, [skipped, passed('[B-X-2] x')])).toMatchObject({
      proved: ['B-X-2'],
      unprovenHere: [{ id: 'A-1', skipped: ['[A-1] needs a container engine'] }],
      unproved: [],
    });
    expect(judgeProofs(list, [skipped, passed('[A-1][B-X-2] x')])).toMatchObject({ unprovenHere: [] });
  });

  test('a requirement is unproved without a test, and by a failed test', () => {
    const failed = { ...passed('[A-1] x'), state: 'failed' } as const;
    const skipped = { ...passed('[A-1] y'), state: 'skipped' } as const;
    expect(judgeProofs(list, [failed, skipped])).toMatchObject({ unproved: ['A-1', 'B-X-2'] });
  });

  test('a known failure does not prove a requirement', () => {
    const outcomes = [{ ...passed('[A-1] x'), isKnownFailure: true }];
    expect(judgeProofs(list, outcomes)).toMatchObject({ proved: [], unproved: ['A-1', 'B-X-2'] });
  });

  test('an id that is unknown or not begun is stray', () => {
    const outcomes = [passed('[C-3][D-4] x'), passed('[1] no id'), passed('not first: [E-5]')];
    expect(judgeProofs(list, outcomes)).toMatchObject({ stray: ['C-3', 'D-4'] });
  });

  test('idsOf reads the ids at the beginning of a title', () => {
    expect(idsOf('[AGG-CFG-1][HEALTH-2] x [SAFE-1]')).toEqual(['AGG-CFG-1', 'HEALTH-2']);
  });
});

function passed(title: string): Outcome {
  return { title, state: 'passed', isKnownFailure: false };
}

function idsIn(text: string): string[] {
  const call = /\bverifies(?:\.fails)?(?:\.skipIf\([^)]*\))?\(\s*(?<ids>\[[^\]]*\]|'[^']*')/g;
  return [...text.matchAll(call)].flatMap(({ groups }) =>
    [...(groups?.['ids'] ?? '').matchAll(/'([^']*)'/g)].map(([, id = '']) => id),
  );
}
