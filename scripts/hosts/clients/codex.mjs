// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const codex = {
  name: 'Codex',
  packages: { '@openai/codex': '0.166.0' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  return {
    file: scene.node,
    args: [binOf(scene.folder, '@openai/codex'), 'exec', ...options, PROMPT],
    files: { [join(scene.home, '.codex', 'config.toml')]: config(scene, url) },
    env: { SCRIPTED_KEY: 'none', WEIR_TOKEN: scene.http.token },
  };
}

/**
 * @param {import('../scene.mjs').Scene} scene
 * @param {string} url
 */
function config({ transport, stdio, http }, url) {
  const text = (/** @type {unknown} */ value) => JSON.stringify(value);
  const server =
    transport === 'stdio'
      ? `command = ${text(stdio.command)}\nargs = ${text(stdio.args)}`
      : `url = ${text(http.url)}\nbearer_token_env_var = "WEIR_TOKEN"`;
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = ${text(`${url}/v1`)}
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[mcp_servers.weir]
${server}
`;
}
