import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import {
  labelsOf,
  ownerIn,
  OwnerState,
  ownSelf,
  startOfProcess,
  stateOf,
  type ContainerOwner,
} from './owner.ts';

const self = ownSelf();

describe('the owner of a container', () => {
  verifies('MANAGED-3', 'the owner of a container is written to labels and read from them', () => {
    expect(ownerIn(labelsOf(self))).toEqual(self);
    for (const label of Object.keys(labelsOf(self)))
      for (const value of [undefined, ''])
        expect(ownerIn({ ...labelsOf(self), [label]: value as string })).toBeUndefined();
    expect(ownerIn({})).toBeUndefined();
  });

  verifies('MANAGED-3', 'ownSelf describes this process, and stateOf finds it alive', () => {
    expect(stateOf(self, self)).toBe(OwnerState.ALIVE);
    expect(Object.values(self)).not.toContain('');
    expect(self.pid).toBe(String(process.pid));
  });

  verifies(
    'MANAGED-3',
    'stateOf returns "elsewhere" for an owner on another machine, boot or namespace',
    () => {
      for (const part of ['machine', 'boot', 'namespace'] as const)
        expect(stateOf({ ...self, [part]: 'another', pid: '2147480000' }, self)).toBe(OwnerState.ELSEWHERE);
      expect(stateOf(undefined, self)).toBe(OwnerState.ELSEWHERE);
      for (const pid of ['0', '-1', 'x', '1.5'])
        expect(stateOf({ ...self, pid }, self, () => undefined)).toBe(OwnerState.ELSEWHERE);
    },
  );

  const truths: [name: string, start: string | undefined, state: ContainerOwner['pid']][] = [
    ['an owner whose process is missing', undefined, OwnerState.GONE],
    ['an owner whose process id belongs to a later process', 'another start', OwnerState.GONE],
    ['an owner whose process runs', self.start, OwnerState.ALIVE],
    ['an owner whose process cannot be inspected', 'unknown', OwnerState.ALIVE],
  ];
  for (const [name, start, state] of truths)
    verifies('MANAGED-3', `${name} is ${state}`, () => {
      expect(stateOf(self, self, () => start)).toBe(state);
    });

  verifies.skipIf(process.platform === 'linux' ? undefined : 'only Linux shows it')(
    'MANAGED-3',
    'startOfProcess finds no start of a zombie process',
    async () => {
      // The shell has replaced itself by a program that never reaps its child.
      const parent = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 30'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(printed.toString());
      const living = startOfProcess(pid);
      await expect.poll(() => startOfProcess(pid), { timeout: 10_000 }).toBeUndefined();
      expect(living).toMatch(/^\d+$/);
      expect(() => process.kill(pid, 0)).not.toThrow();
      parent.kill('SIGKILL');
    },
  );
});
