import { test, type TestContext } from 'vitest';

/** Tests that run at the same time take `expect` from the context for snapshots. */
type Body = (context: TestContext) => void | Promise<void>;

interface Verifies {
  /** A test that proves one or more requirements of tests/requirements.ts; their ids open its title. */
  (ids: string | string[], name: string, body: Body, timeout?: number): void;
  /** A requirement known to be broken: turns red on the day it works. */
  fails(ids: string | string[], name: string, body: Body, timeout?: number): void;
  /** Proves it only where it can be tried; `reason` says what is missing, and the test run names it as skipped. */
  skipIf(
    reason: string | undefined,
  ): (ids: string | string[], name: string, body: Body, timeout?: number) => void;
}

export const verifies: Verifies = Object.assign(
  (ids: string | string[], name: string, body: Body, timeout?: number): void => {
    test(title(ids, name), body, timeout);
  },
  {
    fails(ids: string | string[], name: string, body: Body, timeout?: number): void {
      test.fails(title(ids, name), body, timeout);
    },
    skipIf(reason: string | undefined) {
      if (reason === undefined) return verifies;
      return (ids: string | string[], name: string, body: Body, timeout?: number): void => {
        test.skip(`${title(ids, name)} (${reason})`, body, timeout);
      };
    },
  },
);

function title(ids: string | string[], name: string): string {
  return `${[ids]
    .flat()
    .map((id) => `[${id}]`)
    .join('')} ${name}`;
}
