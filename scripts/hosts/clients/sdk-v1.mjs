// @ts-check
import { runDriver } from '../library-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const sdkV1 = {
  name: 'TypeScript SDK v1',
  packages: { '@modelcontextprotocol/sdk': '1.32.2' },
  transports: ['stdio', 'http'],
  run: (scene) => runDriver(scene, 'sdk-v1'),
};
