import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { verifies } from '../../../../tests/verifies.ts';
import { connectInMemory, type InMemoryOptions } from '../testing/connect-in-memory.ts';
import { compose } from './compose.ts';
import { definePrompt } from './prompt-module.ts';
import { registerPrompts } from './register-prompts.ts';
import { registerResources } from './register-resources.ts';
import { registerTools } from './register-tools.ts';
import { defineResource } from './resource-module.ts';
import { defineTool } from './tool-module.ts';
import { withAuth } from './with-auth.ts';
import { withLogging } from './with-logging.ts';

interface Signed {
  accessToken: string;
  greeting: string;
}

const tool = defineTool({
  name: 'greet',
  description: 'Greets',
  inputSchema: z.object({ who: z.string() }),
  handler: ({ who }, _extra, { accessToken, greeting }: Signed) => `${greeting} ${who} ${accessToken}`,
});
const resource = defineResource({
  name: 'greeting',
  description: 'Greets',
  template: 'greet://{who}',
  handler: ({ variables: { who } }, _extra, { accessToken, greeting }: Signed) =>
    `${greeting} ${who} ${accessToken}`,
});
const prompt = definePrompt({
  name: 'greet',
  description: 'Greets',
  argsSchema: z.object({ who: z.string() }),
  handler: ({ who }, _extra, { accessToken, greeting }: Signed) => `${greeting} ${who} ${accessToken}`,
});

function loggerOf(): Record<
  'debug' | 'info' | 'warn' | 'error',
  ReturnType<typeof vi.fn<(message: string) => void>>
> {
  return { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}

const url = 'https://login.example.com/start';
const signedOut = {
  getAccessToken: (): never => {
    throw Object.assign(new Error('Sign in first'), { name: 'AuthRequiredError', authUrl: url });
  },
};

describe('composed wrappers', () => {
  verifies('KIT-MODULE-1', 'wrappers fit tools, resources and prompts alike', async () => {
    const logger = loggerOf();
    let time = 0;
    const wrap = compose(
      withAuth({ getAccessToken: () => 'token-1' }),
      withLogging({ logger, now: () => (time += 5) }),
    );
    await using client = await connectInMemory(() => {
      const server = new McpServer({ name: 'test', version: '1.0.0' });
      const context = { greeting: 'Hello' };
      registerTools(server, [wrap(tool)], context);
      registerResources(server, [wrap(resource)], context);
      registerPrompts(server, [wrap(prompt)], context);
      return server;
    });
    expect((await client.callTool('greet', { who: 'Ann' })).text).toBe('Hello Ann token-1');
    expect((await client.readResource('greet://Ann')).contents).toMatchObject([
      { text: 'Hello Ann token-1' },
    ]);
    expect(await client.getPrompt('greet', { who: 'Ann' })).toMatchObject({
      messages: [{ content: { text: 'Hello Ann token-1' } }],
    });
    expect(logger.info.mock.calls).toEqual([
      ["tool 'greet' succeeded in 5 ms"],
      ["resource 'greeting' succeeded in 5 ms"],
      ["prompt 'greet' succeeded in 5 ms"],
    ]);
  });

  test('the last wrapper is the outermost', () => {
    const wrap = compose(
      (text: string) => `a(${text})`,
      (text: string) => `b(${text})`,
      (text: string) => `c(${text})`,
    );
    expect(wrap('x')).toBe('c(b(a(x)))');
  });

  test('a tool that asks for a token does not compile without withAuth', () => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    // @ts-expect-error the context has no accessToken
    registerTools(server, [tool], { greeting: 'Hello' });
  });

  test('the wrapped module stays as it is', () => {
    const frozen = Object.freeze({ ...tool });
    expect(withLogging(frozen, { logger: loggerOf() })).toMatchObject({
      name: 'greet',
      description: 'Greets',
    });
  });
});

describe('logging', () => {
  const call = async (logged: typeof tool): Promise<void> => {
    await using client = await connectInMemory(() => {
      const server = new McpServer({ name: 'test', version: '1.0.0' });
      registerTools(server, [logged], { greeting: 'Hello', accessToken: 'x' });
      return server;
    });
    await client.callTool('greet', { who: 'canary' });
  };

  test('arguments are logged only where that is asked for', async () => {
    const silent = loggerOf();
    await call(withLogging(tool, { logger: silent }));
    expect(JSON.stringify(silent.info.mock.calls)).not.toContain('canary');
    const open = loggerOf();
    await call(withLogging(tool, { logger: open, withArguments: true }));
    expect(open.info).toHaveBeenCalledWith(expect.any(String), { arguments: { who: 'canary' } });
  });

  test('a thrown error is a warning with its name, and is thrown on', async () => {
    const logger = loggerOf();
    const handler = (): never => {
      throw new RangeError('canary is out of range');
    };
    await call(withLogging({ ...tool, handler }, { logger, now: () => 0 }));
    expect(logger.warn.mock.calls).toEqual([["tool 'greet' threw RangeError in 0 ms"]]);
  });

  test('a result with isError is a warning', async () => {
    const logger = loggerOf();
    const handler = (): { isError: true; content: [] } => ({ isError: true, content: [] });
    await call(withLogging({ ...tool, handler }, { logger, now: () => 0 }));
    expect(logger.warn.mock.calls).toEqual([["tool 'greet' answered with an error in 0 ms"]]);
  });
});

describe('authorization', () => {
  const optionsOf = async (
    authInfo: InMemoryOptions<[]>['authInfo'],
    tokenOptions?: () => object,
  ): Promise<unknown> => {
    const getAccessToken = vi.fn((_options?: object) => 'token');
    await using client = await connectInMemory(
      () => {
        const server = new McpServer({ name: 'test', version: '1.0.0' });
        const wrapped = withAuth(tool, { getAccessToken }, tokenOptions && { tokenOptions });
        registerTools(server, [wrapped], { greeting: 'Hello' });
        return server;
      },
      { authInfo, era: 'legacy' },
    );
    await client.callTool('greet', { who: 'Ann' });
    return getAccessToken.mock.calls[0]?.[0];
  };

  test('a call over HTTP does not wait for a sign-in unless the server says so', async () => {
    const authInfo = { token: 't', clientId: 'ann', scopes: [], expiresAt: Date.now() / 1000 + 60 };
    expect(await optionsOf(authInfo)).toEqual({ interactive: false });
    expect(await optionsOf(authInfo, () => ({ account: 'ann' }))).toEqual({
      account: 'ann',
      interactive: false,
    });
    expect(await optionsOf(authInfo, () => ({ interactive: true }))).toEqual({ interactive: true });
    expect(await optionsOf(undefined)).toBeUndefined();
    expect(await optionsOf(undefined, () => ({ account: 'ann' }))).toEqual({ account: 'ann' });
  });

  const factory = (adapter: { getAccessToken(): string | Promise<string> }) => (): McpServer => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    const context = { greeting: 'Hello' };
    const strict = defineTool({
      name: 'strict',
      description: 'Has an output schema without a sign-in',
      inputSchema: z.object({}),
      outputSchema: z.object({ n: z.number() }),
      handler: (_args, _extra, _context: Signed) => ({ n: 1 }),
    });
    registerTools(server, [withAuth(tool, adapter), withAuth(strict, adapter)], context);
    registerResources(server, [withAuth(resource, adapter)], context);
    registerPrompts(server, [withAuth(prompt, adapter)], context);
    return server;
  };

  test.each(['modern', 'legacy'] as const)(
    'without a sign-in the client gets the address (%s)',
    async (era) => {
      await using client = await connectInMemory(factory(signedOut), { era });
      const answer = await client.callTool('greet', { who: 'Ann' });
      expect(answer).toMatchObject({
        text: 'Sign in first',
        structuredContent: { type: 'auth_required', authUrl: url, message: 'Sign in first' },
      });
      expect(answer.isError).toBeUndefined();
      expect(await client.callTool('strict')).toMatchObject({ isError: true, text: `Sign in first\n${url}` });
      const refusal = {
        message: expect.stringContaining('Sign in first') as unknown,
        data: { authUrl: url },
      };
      await expect(client.readResource('greet://Ann')).rejects.toMatchObject(refusal);
      await expect(client.getPrompt('greet', { who: 'Ann' })).rejects.toMatchObject(refusal);
    },
  );

  test('a client that opens addresses is asked to, and the call goes on', async () => {
    let token: string | undefined;
    const adapter = { getAccessToken: () => token ?? signedOut.getAccessToken() };
    const onElicitation = vi.fn(() => {
      token = 'fresh';
      return { action: 'accept' } as const;
    });
    await using client = await connectInMemory(factory(adapter), { onElicitation });
    expect((await client.callTool('greet', { who: 'Ann' })).text).toBe('Hello Ann fresh');
    expect(onElicitation).toHaveBeenCalledWith(expect.objectContaining({ mode: 'url', url }));
  });

  test('a user who declines is asked once', async () => {
    const onElicitation = vi.fn(() => ({ action: 'decline' }) as const);
    await using client = await connectInMemory(factory(signedOut), { onElicitation });
    expect((await client.callTool('greet', { who: 'Ann' })).text).toBe('Sign in first');
    expect(onElicitation).toHaveBeenCalledTimes(1);
  });

  test('any other error of the adapter is an error of the call', async () => {
    const adapter = { getAccessToken: async () => await Promise.reject(new Error('The issuer is down')) };
    await using client = await connectInMemory(factory(adapter));
    expect(await client.callTool('strict')).toMatchObject({
      isError: true,
      text: 'Error: The issuer is down',
    });
  });

  test('the server chooses the account', async () => {
    const getAccessToken = (options?: { account?: string }): string => `token of ${options?.account}`;
    const wrapped = withAuth(
      tool,
      { getAccessToken },
      {
        tokenOptions: (extra) => ({ account: String(extra.http?.authInfo?.clientId) }),
      },
    );
    const authInfo = { token: 't', clientId: 'ann', scopes: [], expiresAt: Date.now() / 1000 + 60 };
    for (const era of ['modern', 'legacy'] as const) {
      await using client = await connectInMemory(
        () => {
          const server = new McpServer({ name: 'test', version: '1.0.0' });
          registerTools(server, [wrapped], { greeting: 'Hello' });
          return server;
        },
        { authInfo, era },
      );
      expect((await client.callTool('greet', { who: 'Ann' })).text).toBe('Hello Ann token of ann');
    }
  });
});
