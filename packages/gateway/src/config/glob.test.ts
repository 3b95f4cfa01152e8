import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { matchesGlob } from './glob.ts';

const rows: [pattern: string, matches: string[], others: string[]][] = [
  ['read', ['read'], ['reads', 'rea', 'Read', '']],
  ['', [''], ['a']],
  ['*', ['', 'a', 'read_graph', '*'], []],
  ['read_*', ['read_', 'read_graph'], ['read', 'xread_a']],
  ['*_node', ['_node', 'a_node', '_node_node'], ['_nodes']],
  ['a*b*c', ['abc', 'aXbYc', 'abbcc', 'abcbc'], ['ac', 'acb', 'abcd']],
  ['?', ['a', '?'], ['', 'ab']],
  ['a?c*', ['abc', 'a.cd'], ['ac', 'abd']],
  ['a.c', ['a.c'], ['abc']],
  ['**', ['', 'x'], []],
  ['[a]', ['[a]'], ['a']],
];

for (const [pattern, matches, others] of rows)
  verifies('AGG-CFG-4', `the pattern ${JSON.stringify(pattern)} matches whole names`, () => {
    for (const name of matches) expect([name, matchesGlob(pattern, name)]).toEqual([name, true]);
    for (const name of others) expect([name, matchesGlob(pattern, name)]).toEqual([name, false]);
  });

verifies(
  'AGG-CFG-4',
  'matchesGlob takes at most the product of both lengths for a pattern of many wildcards',
  () => {
    const began = performance.now();
    expect(matchesGlob(`${'a*'.repeat(200)}b`, 'a'.repeat(5000))).toBe(false);
    expect(performance.now() - began).toBeLessThan(1000);
  },
);
