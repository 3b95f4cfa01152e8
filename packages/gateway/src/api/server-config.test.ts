import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { serverConfigs, type MCPServerConfig } from './server-config.ts';

function described(entry: ServerConfig): MCPServerConfig | undefined {
  return serverConfigs({ config: { mcpServers: { key: entry } }, reports: () => [] })[0];
}

const NOTHING_KNOWN = {
  id: 'key',
  name: 'key',
  enabled: false,
  failureCount: 0,
  autoDisabled: false,
  sectionBindings: [],
};

const rows: [string, ServerConfig, object][] = [
  ['a program', { command: 'x', env: { KEY: 'secret' } }, { transport: 'stdio' }],
  ['a program with a label', { command: 'x', name: 'Files' }, { name: 'Files', transport: 'stdio' }],
  [
    'an image',
    { image: 'tools' },
    {
      transport: 'stdio',
      deploymentType: 'managed',
      dockerConfig: { image: 'tools', containerName: 'weir-key' },
    },
  ],
  [
    'a container over HTTP+SSE at one port',
    { transport: 'sse', dockerConfig: { image: 'tools', containerName: 'c', port: 80 } },
    { transport: 'sse', deploymentType: 'managed', dockerConfig: { image: 'tools', containerName: 'c' } },
  ],
  [
    'a container with a port',
    { dockerConfig: { image: 'tools', containerName: 'c', ports: { '80': 0 }, command: ['run'] } },
    {
      transport: 'streamable-http',
      deploymentType: 'managed',
      dockerConfig: { image: 'tools', containerName: 'c', ports: { '80': 0 }, command: ['run'] },
    },
  ],
  [
    'a URL without its secrets',
    { url: 'https://me:pw@host.example:8/mcp?key=1#x' },
    {
      transport: 'streamable-http',
      deploymentType: 'external',
      sseConfig: { url: 'https://host.example:8/mcp' },
    },
  ],
  [
    'a URL for HTTP+SSE',
    { sseConfig: { url: 'https://host.example/sse' } },
    { transport: 'sse', deploymentType: 'external', sseConfig: { url: 'https://host.example/sse' } },
  ],
];

for (const [what, entry, expected] of rows)
  verifies('HEALTH-8', `serverConfigs describes a server: ${what}`, () => {
    expect(described(entry)).toEqual({ ...NOTHING_KNOWN, ...expected });
  });

verifies('HEALTH-8', 'serverConfigs merges the section bindings of the server and of the config', () => {
  const own = { sectionType: 'heading', headingText: '## Tools' } as const;
  const common = { sectionType: 'range', startLine: 1, endLine: 5, inheritToChildren: false } as const;
  const config = {
    mcpServers: { a: { command: 'x', sectionBindings: [own] }, b: { command: 'x' } },
    sectionBindings: [
      { ...common, serverId: 'b' },
      { ...common, serverId: 'a' },
    ],
  };
  const bindings = serverConfigs({ config, reports: () => [] }).map(({ sectionBindings }) => sectionBindings);
  expect(bindings).toEqual([
    [
      { ...own, serverId: 'a', inheritToChildren: true },
      { ...common, serverId: 'a' },
    ],
    [{ ...common, serverId: 'b' }],
  ]);
});
