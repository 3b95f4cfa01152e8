import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { Peer } from '../../wire/peer.ts';
import { startupTimeouts } from '../transports.ts';
import { shakeHands } from './negotiate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

verifies('ERA-4', 'a server that does not answer the probe gets the legacy handshake after 2 s', async () => {
  const asked: string[] = [];
  const silent = {
    request(method: string) {
      asked.push(method);
      return new Promise(() => undefined);
    },
  } as unknown as Peer;
  void shakeHands(silent, {
    serverKey: 's',
    envelope: { clientInfo: { name: 'x', version: '1' }, capabilities: '{}' },
    knownEra: undefined,
    isFixed: false,
    probeTimeoutMs: startupTimeouts({ command: 'node' }, undefined).probe,
    prefersLegacy: false,
  });
  await vi.advanceTimersByTimeAsync(1999);
  expect(asked).toEqual(['server/discover']);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toEqual(['server/discover', 'initialize']);
});
