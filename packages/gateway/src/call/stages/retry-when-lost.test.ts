import { expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { ClientRequest } from '../client-request.ts';
import type { Target } from '../resolve.ts';
import { isRepeatable } from './retry-when-lost.ts';

function isRetried(attempt: number, isMarked: boolean, method = 'tools/call'): boolean {
  const asked = { message: { method, bytes: Buffer.from('{}') }, attempt } as ClientRequest;
  return isRepeatable(asked, { isRepeatable: isMarked } as Target);
}

verifies('HEALTH-6', 'a repeatable call is made again three times, and others never', () => {
  expect([0, 1, 2, 3, 4].map((attempt) => isRetried(attempt, true))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(isRetried(0, false)).toBe(false);
  expect(isRetried(0, true, 'prompts/get')).toBe(false);
});
