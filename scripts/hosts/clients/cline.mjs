// @ts-check
import { join } from 'node:path';
import { bearer } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const cline = {
  name: 'Cline CLI',
  packages: { cline: '3.0.65' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const { transport, stdio, http, home } = scene;
  const weir =
    transport === 'stdio' ? stdio : { type: 'streamableHttp', url: http.url, headers: bearer(http) };
  const data = join(home, '.cline', 'data');
  return {
    file: join(
      scene.folder,
      'node_modules',
      '@cline',
      `cli-${process.platform}-${process.arch}`,
      'bin',
      'cline',
    ),
    args: [
      '--json',
      '--auto-approve',
      'true',
      '-P',
      'openai-compatible',
      '-k',
      'none',
      '-m',
      'scripted',
      PROMPT,
    ],
    files: {
      [join(data, 'settings', 'cline_mcp_settings.json')]: { mcpServers: { weir } },
      [join(data, 'settings', 'providers.json')]: providers(url),
    },
    env: { CLINE_NO_AUTO_UPDATE: '1' },
  };
}

/** @param {string} url */
function providers(url) {
  const settings = { provider: 'openai-compatible', apiKey: 'none', model: 'scripted', baseUrl: `${url}/v1` };
  return {
    version: 1,
    lastUsedProvider: 'openai-compatible',
    providers: {
      'openai-compatible': { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
    },
  };
}
