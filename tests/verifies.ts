import { test, type TestContext } from 'vitest';

/** Tests that run at the same time take `expect` from the context for snapshots. */
type Body = (context: TestContext) => void | Promise<void>;

interface Declare {
  (ids: string | string[], name: string, body: Body, timeout?: number): void;
}

interface Proof extends Declare {
  /** The same for a test that takes seconds, which `npm run test:quick` leaves out. */
  readonly slow: Declare;
}

/** A test that proves one or more requirements of tests/requirements.ts; their ids open its title. */
interface Verifies extends Proof {
  /** A requirement known to be broken: turns red on the day it works. */
  readonly fails: Declare;
  /** Proves it only where it can be tried; `reason` says what is missing, and the test run names it as skipped. */
  skipIf(reason: string | undefined): Proof;
}

export const verifies: Verifies = Object.assign(
  (ids: string | string[], name: string, body: Body, timeout?: number): void => {
    test(title(ids, name), body, timeout);
  },
  {
    slow(ids: string | string[], name: string, body: Body, timeout?: number): void {
      test(title(ids, name), { tags: ['slow'], ...(timeout !== undefined && { timeout }) }, body);
    },
    fails(ids: string | string[], name: string, body: Body, timeout?: number): void {
      test.fails(title(ids, name), body, timeout);
    },
    skipIf(reason: string | undefined): Proof {
      if (reason === undefined) return verifies;
      const skip: Declare = (ids, name, body, timeout) => {
        test.skip(`${title(ids, name)} (${reason})`, body, timeout);
      };
      return Object.assign(skip, { slow: skip });
    },
  },
);

function title(ids: string | string[], name: string): string {
  return `${[ids]
    .flat()
    .map((id) => `[${id}]`)
    .join('')} ${name}`;
}
