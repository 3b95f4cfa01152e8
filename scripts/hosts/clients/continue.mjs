// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { bearer } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const continueCli = {
  name: 'Continue CLI',
  packages: { '@continuedev/cli': '1.5.47' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const config = join(scene.home, 'config.yaml');
  return {
    file: scene.node,
    args: [binOf(scene.folder, '@continuedev/cli'), '-p', PROMPT, '--auto', '--config', config],
    files: { [config]: configOf(scene, url) },
    env: { CONTINUE_METRICS_ENABLED: '0', CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
  };
}

/**
 * JSON is YAML, too.
 * @param {import('../scene.mjs').Scene} scene
 * @param {string} url
 */
function configOf({ transport, stdio, http }, url) {
  const weir =
    transport === 'stdio'
      ? { type: 'stdio', ...stdio }
      : { type: 'streamable-http', url: http.url, requestOptions: { headers: bearer(http) } };
  return {
    name: 'scripted',
    version: '1.0.0',
    schema: 'v1',
    models: [
      {
        name: 'scripted',
        provider: 'openai',
        model: 'scripted',
        apiBase: `${url}/v1`,
        apiKey: 'none',
        roles: ['chat'],
        capabilities: ['tool_use'],
      },
    ],
    mcpServers: [{ name: 'weir', ...weir }],
  };
}
