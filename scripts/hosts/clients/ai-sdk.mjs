// @ts-check
import { driverCommand } from '../library-host.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const aiSdk = {
  name: 'Vercel AI SDK',
  packages: { '@ai-sdk/mcp': '2.0.93', ai: '7.0.169', '@ai-sdk/openai': '3.0.139', zod: '4.6.7' },
  transports: ['stdio', 'http'],
  needsModel: true,
  unable: { changed: 'its tools are read once, a program reads them again by itself' },
  run: (scene) =>
    runWithModel(scene, (_scene, url) => driverCommand(scene, 'ai-sdk', { model: url, prompt: PROMPT })),
};
