import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { ServerClient } from '../upstream/upstream.ts';
import { addServerTools, lookupTool, removeServerTools, type ToolRegistry } from './tool-registry.ts';

const client: ServerClient & { serverKey: string } = {
  serverKey: 'its own',
  callTool: async () => ({}),
  listTools: async () => ({ tools: [] }),
};

const read = { name: 'read', description: 'Reads.', inputSchema: { type: 'object' }, 'x-kept': [1] };

function registryOf(separator?: string): ToolRegistry {
  const registry: ToolRegistry = new Map();
  addServerTools(registry, 'files', client, [read, { ...read, name: 'a:b' }], separator);
  addServerTools(registry, 'files2', client, [read], separator);
  return registry;
}

describe('the tool registry', () => {
  verifies(
    ['AGG-REG-1', 'AGG-SEP-1'],
    'the tool registry holds each tool under key, separator and name',
    () => {
      expect([...registryOf().keys()]).toEqual(['files:read', 'files:a:b', 'files2:read']);
      expect([...registryOf('__').keys()]).toEqual(['files__read', 'files__a_b', 'files2__read']);
      expect([...registryOf('::').keys()]).toEqual(['files::read', 'files::a:b', 'files2::read']);
    },
  );

  verifies(
    ['AGG-REG-1', 'AGG-API-1'],
    'an entry of the tool registry holds client, key, name and schema, also in a copy',
    () => {
      const entry = lookupTool(registryOf(), 'files:read');
      const fields = {
        client,
        serverKey: 'files',
        originalName: 'read',
        schema: { ...read, name: 'files:read' },
      };
      expect(entry).toMatchObject(fields);
      expect({ ...entry }).toMatchObject(fields);
      expect(lookupTool(registryOf(), 'read')).toBeUndefined();
    },
  );

  verifies('AGG-REG-1', 'the tool registry keeps the first of two equal names', () => {
    const registry = registryOf();
    addServerTools(registry, 'files', client, [{ ...read, description: 'Another one.' }]);
    expect(registry.size).toBe(3);
    expect(lookupTool(registry, 'files:read')?.schema.description).toBe('Reads.');
  });

  verifies(
    'AGG-REG-1',
    'removeServerTools removes the tools of one server by its key with any separator',
    () => {
      for (const [separator, left] of [
        [':', 'files2:read'],
        ['__', 'files2__read'],
        ['2', 'files22read'],
      ] as const) {
        const registry = registryOf(separator);
        removeServerTools(registry, 'files');
        expect([...registry.keys()]).toEqual([left]);
        removeServerTools(registry, 'nobody');
        expect(registry.size).toBe(1);
        removeServerTools(registry, 'files2');
        expect(registry.size).toBe(0);
      }
    },
  );
});
