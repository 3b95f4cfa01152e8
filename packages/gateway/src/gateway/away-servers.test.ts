import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { NEW_SERVER, type Health } from '../upstream/supervision/health.ts';
import { AwayServers } from './away-servers.ts';

function described(health: Partial<Health>): string {
  return new AwayServers({
    keys: () => ['s'],
    healthOf: () => ({ ...NEW_SERVER, ...health }),
    hasLazyUpstream: () => false,
    retryHint: () => undefined,
    commandName: 'weir',
    now: () => 0,
  }).describe(() => true);
}

verifies('AGG-CHILD-3', 'AwayServers does not tell clients to wait for a disabled server', () => {
  const disabled = described({ enabled: false, autoDisabled: true, autoDisabledAt: 0 });
  expect(disabled).toContain('then enable it with "weir enable s"');
  expect(disabled).not.toContain('wait until');
  expect(described({ connectionState: 'connecting' })).toContain('wait until it has started');
});
