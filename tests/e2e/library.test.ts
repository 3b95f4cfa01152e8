import { expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { fixture, textOf } from './harness.ts';
import { serveInProcess } from './in-process.ts';

verifies('AGG-API-1', 'smoke', async () => {
  await using weir = serveInProcess({ e: fixture('echo') });
  expect(await weir.tools()).toContain('e:echo');
  expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
});
