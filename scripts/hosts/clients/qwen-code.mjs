// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { bearer } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const qwenCode = {
  name: 'Qwen Code',
  packages: { '@qwen-code/qwen-code': '0.24.4' },
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
      binOf(scene.folder, '@qwen-code/qwen-code'),
      '--yolo',
      '--auth-type',
      'openai',
      '-m',
      'scripted',
      PROMPT,
    ],
    files: { [join(scene.home, '.qwen', 'settings.json')]: settings({ ...weir, trust: true }) },
    env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'scripted' },
  };
}

/** @param {object} weir */
function settings(weir) {
  return {
    general: { enableAutoUpdate: false, disableAutoUpdate: true },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    // All tools stand in the request, as they do in hosts that have no search for tools.
    tools: { toolSearch: { enabled: false } },
    mcpServers: { weir },
  };
}
