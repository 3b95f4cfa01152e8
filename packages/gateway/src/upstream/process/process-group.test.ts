import type { ChildProcess } from 'node:child_process';
import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import {
  clearGroup,
  posixGroup,
  STOP_TIMING,
  stopTiming,
  whileStarting,
  windowsTree,
  type ProcessGroup,
} from './process-group.ts';

/** A group that is empty after so many signals of this kind. */
function groupThatEndsAfter(last: string, seen: string[]): ProcessGroup {
  let isEmpty = last === 'nothing';
  return {
    signal(signal) {
      if (isEmpty) return false;
      if (signal !== 0) seen.push(signal);
      isEmpty = signal === last;
      return true;
    },
    hasLiving: () => last !== 'burial',
  };
}

const quick = { eofMs: 40, termMs: 40, killMs: 40 };

verifies(
  'AGG-CHILD-5',
  'clearGroup sends SIGTERM first and SIGKILL only if the group does not end',
  async () => {
    for (const [last, expected] of [
      ['nothing', []],
      ['SIGTERM', ['SIGTERM']],
      ['SIGKILL', ['SIGTERM', 'SIGKILL']],
    ] as const) {
      const seen: string[] = [];
      expect(await clearGroup(groupThatEndsAfter(last, seen), quick)).toBe(true);
      expect(seen).toEqual(expected);
    }
  },
);

test('clearGroup does not wait for zombie processes', async () => {
  const seen: string[] = [];
  expect(await clearGroup(groupThatEndsAfter('burial', seen), quick)).toBe(true);
  expect(seen).toEqual(['SIGTERM']);
});

test('clearGroup gives up on a group that cannot be killed and returns false', async () => {
  expect(await clearGroup(groupThatEndsAfter('never', []), quick)).toBe(false);
});

verifies('AGG-CHILD-5', 'the stages of a stop are two seconds each', () => {
  expect(STOP_TIMING).toMatchObject({ eofMs: 2000, termMs: 2000 });
});

verifies('AGG-CHILD-5', 'the stages of a server that is starting are one second each, or shorter', () => {
  expect(whileStarting()).toMatchObject({ eofMs: 1000, termMs: 1000 });
  expect(whileStarting(stopTiming(1000))).toMatchObject({ eofMs: 500, termMs: 500 });
  expect(stopTiming()).toEqual(STOP_TIMING);
});

test('posixGroup cannot signal a missing group', () => {
  expect(posixGroup(2 ** 30).signal(0)).toBe(false);
});

verifies('AGG-QA-2', 'a Windows process tree lives as long as its root runs', () => {
  const tree = (state: object): ProcessGroup => windowsTree({ pid: 2 ** 30, ...state } as ChildProcess, {});
  expect(tree({ exitCode: null, signalCode: null }).signal('SIGKILL')).toBe(true);
  expect(tree({ exitCode: null, signalCode: null }).hasLiving()).toBe(true);
  expect(tree({ exitCode: 0, signalCode: null }).signal('SIGTERM')).toBe(false);
  expect(tree({ exitCode: null, signalCode: 'SIGTERM' }).hasLiving()).toBe(false);
});
