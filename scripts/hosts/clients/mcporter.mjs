// @ts-check
import { join } from 'node:path';
import { askByCommand } from '../command-host.mjs';
import { binOf } from '../install.mjs';
import { entry } from '../mcp-servers.mjs';
import { writeFiles } from '../scene.mjs';

/** @type {import('../clients.mjs').Client} */
export const mcporter = {
  name: 'mcporter',
  packages: { mcporter: '0.12.3' },
  transports: ['stdio', 'http'],
  unable: { changed: 'each command is a new connection' },
  run(scene) {
    const config = join(scene.home, 'mcporter.json');
    writeFiles({ [config]: { mcpServers: { weir: entry(scene) } } });
    const command = [binOf(scene.folder, 'mcporter'), '--config', config];
    return askByCommand(scene, {
      list: [...command, 'list', 'weir', '--json'],
      call: (tool, args) => {
        const pairs = Object.entries(args).map(([name, value]) => `${name}=${value}`);
        return [...command, 'call', `weir.${tool}`, ...pairs, '--output', 'json'];
      },
    });
  },
};
