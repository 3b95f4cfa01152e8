// @ts-check
import { join } from 'node:path';
import { entry } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';
import { QUIET } from './quiet.mjs';

/** @type {import('../clients.mjs').Client} */
export const claudeCode = {
  name: 'Claude Code',
  packages: { '@anthropic-ai/claude-code': '2.1.325' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const native = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
  const config = join(scene.home, 'mcp.json');
  return {
    file: join(scene.folder, 'node_modules', native, 'claude'),
    args: ['-p', PROMPT, '--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__weir'],
    files: { [config]: { mcpServers: { weir: entry(scene) } } },
    env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', ...QUIET },
  };
}
