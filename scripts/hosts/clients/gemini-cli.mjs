// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { bearer } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const geminiCli = {
  name: 'Gemini CLI',
  packages: { '@google/gemini-cli': '0.61.0' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const { transport, stdio, http } = scene;
  const weir = transport === 'stdio' ? stdio : { httpUrl: http.url, headers: bearer(http) };
  return {
    file: scene.node,
    args: [
      binOf(scene.folder, '@google/gemini-cli'),
      '-p',
      PROMPT,
      '--yolo',
      '--skip-trust',
      '-m',
      'gemini-2.5-flash',
    ],
    files: { [join(scene.home, '.gemini', 'settings.json')]: settings({ ...weir, trust: true }) },
    env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url },
  };
}

/** @param {object} weir */
function settings(weir) {
  return {
    general: { disableAutoUpdate: true, enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' } },
    mcpServers: { weir },
  };
}
