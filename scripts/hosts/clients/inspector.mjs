// @ts-check
import { askByCommand } from '../command-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const inspector = {
  name: 'MCP Inspector CLI',
  packages: { '@modelcontextprotocol/inspector': '2.12.0' },
  transports: ['stdio', 'http'],
  unable: { changed: 'each command is a new connection', instructions: 'its commands do not show them' },
  run(scene) {
    const { transport, stdio, http, folder } = scene;
    const launcher = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
    const ask = (/** @type {string[]} */ ...method) => {
      const options = ['--cli', '--format', 'json', '--method', ...method];
      const target =
        transport === 'stdio'
          ? ['--', stdio.command, ...stdio.args]
          : [http.url, '--header', `Authorization: Bearer ${http.token}`];
      return [`${folder}/${launcher}`, ...options, ...target];
    };
    return askByCommand(scene, {
      list: ask('tools/list'),
      call: (tool, args) => ask('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)),
    });
  },
};
