// @ts-check
import { join, sep } from 'node:path';
import { root } from '../steps.mjs';

/**
 * A plugin that replaces one text of one source file while vitest loads it; the file itself stays as it is.
 * @param {import('./run-tests.mjs').Replacement} replacement
 * @returns {{ name: string; enforce: 'pre'; transform(code: string, id: string): string | undefined }}
 */
export function replacing({ file, from, to }) {
  // Vite writes paths with slashes on every system.
  const path = join(root, file).split(sep).join('/');
  return {
    name: 'replacing',
    enforce: 'pre',
    transform: (code, id) => (id.split('?')[0] === path ? code.replace(from, () => to) : undefined),
  };
}
