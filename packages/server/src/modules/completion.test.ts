import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import type { Complete } from './completion.ts';
import { registerPrompts } from './register-prompts.ts';
import { registerResources } from './register-resources.ts';

const loggerOf = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() });
const REFERENCES = {
  prompt: { type: 'ref/prompt', name: 'review' },
  resource: { type: 'ref/resource', uri: 'notes://{id}' },
} as const;

/** Asks for suggestions of a prompt or a template, which have loggers of their own. */
async function ask(era: 'modern' | 'legacy', kind: 'prompt' | 'resource', id: Complete): Promise<Asked> {
  const loggers = { prompt: loggerOf(), resource: loggerOf() };
  const shared = { description: 'All', complete: { id }, handler: () => '' };
  const factory = (): McpServer => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    registerPrompts(server, [{ name: 'review', ...shared }], {}, { logger: loggers.prompt });
    const notes = { name: 'notes', template: 'notes://{id}', ...shared };
    registerResources(server, [notes], {}, { logger: loggers.resource });
    return server;
  };
  await using client = await connectInMemory(factory, { era });
  const argument = { name: 'id', value: '' };
  const error: unknown = await client.client
    .complete({ ref: REFERENCES[kind], argument })
    .catch((thrown: unknown) => thrown);
  const other = kind === 'prompt' ? loggers.resource : loggers.prompt;
  expect(other.error).not.toHaveBeenCalled();
  return { error, logged: loggers[kind].error };
}

interface Asked {
  readonly error: unknown;
  readonly logged: ReturnType<typeof vi.fn>;
}

describe.each(['modern', 'legacy'] as const)('completions in the %s era', (era) => {
  describe.each(['prompt', 'resource'] as const)('a %s', (kind) => {
    verifies(
      'KIT-ERR-1',
      `an error reaches the client without path and secret (${kind}, ${era})`,
      async () => {
        const { error, logged } = await ask(era, kind, async () => {
          throw Object.assign(new Error('No file /home/me/canary.txt, password=hunter2'), { code: 'ENOENT' });
        });
        expect(error).toMatchObject({
          code: -32603,
          message: expect.stringMatching(/\(error id: \w+\)$/) as unknown,
          data: { code: 'NOT_FOUND' },
        });
        expect(String(error)).not.toMatch(/canary|hunter2/);
        expect(logged).toHaveBeenCalledWith(expect.stringContaining('canary.txt'));
      },
    );

    test('a protocol error reaches the client as it is', async () => {
      const refuse = (): never => {
        throw new ProtocolError(-31999, 'Not today');
      };
      expect((await ask(era, kind, refuse)).error).toMatchObject({ code: -31999 });
    });

    test.each<unknown>([undefined, 'text', [1], [Symbol('x')]])(
      'the suggestions %j are a fault of the server',
      async (values) => {
        const { error, logged } = await ask(era, kind, () => values as string[]);
        const message = "The suggestions for 'id' are not a list of texts";
        expect(error).toMatchObject({ code: -32603, message: expect.stringContaining(message) as unknown });
        expect(logged).toHaveBeenCalledOnce();
      },
    );
  });
});
