// @ts-check
import { join } from 'node:path';
import { bearer } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const opencode = {
  name: 'opencode',
  packages: { 'opencode-ai': '1.18.33' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const native = `opencode-${process.platform}-${process.arch}`;
  return {
    file: join(scene.folder, 'node_modules', native, 'bin', 'opencode'),
    args: ['run', '--auto', PROMPT],
    files: { [join(scene.home, '.config', 'opencode', 'opencode.json')]: config(scene, url) },
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
  };
}

/**
 * @param {import('../scene.mjs').Scene} scene
 * @param {string} url
 */
function config({ transport, stdio, http }, url) {
  const weir =
    transport === 'stdio'
      ? { type: 'local', command: [stdio.command, ...stdio.args] }
      : { type: 'remote', url: http.url, headers: bearer(http), oauth: false };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'scripted',
        options: { baseURL: `${url}/v1`, apiKey: 'none' },
        models: { scripted: { name: 'scripted', tool_call: true } },
      },
    },
    mcp: { weir: { ...weir, enabled: true } },
  };
}
