// @ts-check
import { join } from 'node:path';
import { root } from '../steps.mjs';

/** The variable in which `npm run mutate` hands a mutation to the tests that it runs. */
export const MUTATION = 'WEIR_MUTATION';

/**
 * Replaces one text of one source file while vitest loads it; the file itself stays as it is.
 * @param {string | undefined} json `{ file, from, to }`, the file from the root; nothing is replaced without it
 * @returns {{ name: string; enforce: 'pre'; transform(code: string, id: string): string | undefined }[]}
 */
export function mutation(json) {
  if (json === undefined) return [];
  const { file, from, to } = /** @type {{ file: string; from: string; to: string }} */ (JSON.parse(json));
  const path = join(root, file);
  return [
    {
      name: 'mutation',
      enforce: 'pre',
      transform: (code, id) => (id.split('?')[0] === path ? code.replace(from, () => to) : undefined),
    },
  ];
}
