import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MUTATIONS } from '../../scripts/mutate/mutations.mjs';
import { MEASURED, requirements } from '../requirements.ts';
import { root } from '../support/source-files.ts';

describe('the table of wrong numbers', () => {
  test('the table of wrong numbers has every number of a requirement that is done or begun', () => {
    const tried = new Set(MUTATIONS.map(({ id, number }) => `${id}: ${number}`));
    const untried = requirements
      .filter(({ id }) => MEASURED[id] === undefined)
      .flatMap(({ id, numbers = [] }) => numbers.map((number) => `${id}: ${number}`))
      .filter((number) => !tried.has(number));
    expect(untried).toEqual([]);
  });

  test('every wrong number belongs to a known requirement', () => {
    const ids = new Set(requirements.map(({ id }) => id));
    expect(MUTATIONS.filter(({ id }) => !ids.has(id))).toEqual([]);
  });

  test('every wrong number names a text that occurs once and an existing test file', () => {
    const stale = MUTATIONS.filter(
      ({ file, from }) => readFileSync(join(root, file), 'utf8').split(from).length !== 2,
    );
    expect(stale.map(({ file, from }) => `${from} in ${file}`)).toEqual([]);
    const proofs = MUTATIONS.flatMap((mutation) => mutation.proofs);
    expect(proofs.filter(({ file, name }) => name === '' || !existsSync(join(root, file)))).toEqual([]);
  });

  test('every wrong number differs from the right one', () => {
    expect(MUTATIONS.filter(({ from, to }) => to.length === 0 || to.includes(from))).toEqual([]);
  });
});
