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

describe('whose a container is', () => {
  verifies('MANAGED-3', 'goes into labels and comes back from them', () => {
    expect(ownerIn(labelsOf(self))).toEqual(self);
    for (const label of Object.keys(labelsOf(self)))
      for (const value of [undefined, ''])
        expect(ownerIn({ ...labelsOf(self), [label]: value as string })).toBeUndefined();
    expect(ownerIn({})).toBeUndefined();
  });

  verifies('MANAGED-3', 'this process is alive, and says so by all its parts', () => {
    expect(stateOf(self, self)).toBe(OwnerState.ALIVE);
    expect(Object.values(self)).not.toContain('');
    expect(self.pid).toBe(String(process.pid));
  });

  verifies('MANAGED-3', 'one of another machine, boot or namespace is never judged', () => {
    for (const part of ['machine', 'boot', 'namespace'] as const)
      expect(stateOf({ ...self, [part]: 'another', pid: '2147480000' }, self)).toBe(OwnerState.ELSEWHERE);
    expect(stateOf(undefined, self)).toBe(OwnerState.ELSEWHERE);
    for (const pid of ['0', '-1', 'x', '1.5'])
      expect(stateOf({ ...self, pid }, self, () => undefined)).toBe(OwnerState.ELSEWHERE);
  });

  const truths: [name: string, start: string | undefined, state: ContainerOwner['pid']][] = [
    ['a process that is not there', undefined, OwnerState.GONE],
    ['a later process with the same id', 'another start', OwnerState.GONE],
    ['the process itself', self.start, OwnerState.ALIVE],
    ['one that may not be looked at', 'unknown', OwnerState.ALIVE],
  ];
  for (const [name, start, state] of truths)
    verifies('MANAGED-3', `${name} is ${state}`, () => {
      expect(stateOf(self, self, () => start)).toBe(state);
    });

  verifies.skipIf(process.platform === 'linux' ? undefined : 'only Linux shows it')(
    'MANAGED-3',
    'a process that has ended and awaits burial is gone',
    async () => {
      // The shell has replaced itself by a program that never buries its child.
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
