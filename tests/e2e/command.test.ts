import { expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { commandFor, connectSdk, fixture, startWeir, runWeir, textOf } from './harness.ts';
verifies('AGG-CLI-1', 'smoke', async () => {
  await using weir = startWeir({ e: fixture('echo') });
  expect(await weir.tools()).toContain('e:echo');
  expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
  for (const era of ['legacy', 'modern'] as const) {
    await using sdk = await connectSdk(commandFor({ e: fixture('echo') }), era);
    const { tools } = await sdk.client.listTools();
    expect(tools.length).toBe(8);
  }
  console.log(await runWeir(['--nope']));
});
