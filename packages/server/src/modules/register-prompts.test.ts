import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { verifies } from '../../../../tests/verifies.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { definePrompt, type PromptModule } from './prompt-module.ts';
import { registerPrompts } from './register-prompts.ts';
import { registerResources } from './register-resources.ts';

const eras = ['modern', 'legacy'] as const;

const factoryOf = (prompts: readonly PromptModule[]) => (): McpServer => {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  registerPrompts(server, prompts);
  return server;
};

const review = definePrompt({
  name: 'review',
  title: 'Review',
  description: 'Reviews code',
  argsSchema: z.object({
    language: z.string().describe('Language of the code').meta({ title: 'Language' }),
    strict: z.stringbool().default(false),
  }),
  complete: { language: (value, others) => [`${value}script`, ...Object.keys(others)] },
  handler: ({ language, strict }) => `Review this ${language}${strict ? ' strictly' : ''}`,
});

const hello = definePrompt({
  name: 'hello',
  description: 'Says hello',
  handler: () => [{ role: 'assistant', content: { type: 'text', text: 'Hello' } }],
});

describe.each(eras)('prompts in the %s era', (era) => {
  verifies('KIT-MODULE-1', `texts and messages become the messages of a prompt (${era})`, async () => {
    await using client = await connectInMemory(factoryOf([review, hello]), { era });
    expect(await client.getPrompt('review', { language: 'Rust', strict: 'true' })).toMatchObject({
      description: 'Reviews code',
      messages: [{ role: 'user', content: { type: 'text', text: 'Review this Rust strictly' } }],
    });
    expect((await client.getPrompt('hello')).messages).toMatchObject([{ role: 'assistant' }]);
  });

  test('a list has the arguments in the order of names of prompts', async () => {
    await using client = await connectInMemory(factoryOf([review, hello]), { era });
    const { prompts } = await client.client.listPrompts();
    expect(prompts).toEqual([
      { name: 'hello', description: 'Says hello' },
      {
        name: 'review',
        title: 'Review',
        description: 'Reviews code',
        arguments: [
          { name: 'language', description: 'Language of the code', required: true },
          { name: 'strict', required: false },
        ],
      },
    ]);
  });

  test('bad arguments and unknown prompts are protocol errors with the code -32602', async () => {
    await using client = await connectInMemory(factoryOf([review]), { era });
    await expect(client.getPrompt('review')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Invalid arguments for prompt 'review': language: ") as unknown,
    });
    await expect(client.getPrompt('none')).rejects.toMatchObject({ code: -32602 });
  });

  test('an error of a handler reaches the client without its path', async () => {
    const handler = (): never => {
      throw new Error('No file /home/me/canary.txt');
    };
    await using client = await connectInMemory(factoryOf([{ ...hello, handler }]), { era });
    await expect(client.getPrompt('hello')).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining('canary') as unknown,
    });
  });

  test('prompts and resources of one server are completed side by side', async () => {
    const factory = (): McpServer => {
      const server = factoryOf([review])();
      registerResources(server, [
        { name: 'n', description: 'N', template: 'n://{a}', complete: { a: () => ['x'] }, handler: () => '' },
      ]);
      return server;
    };
    await using client = await connectInMemory(factory, { era });
    const prompt = await client.client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'language', value: 'type' },
      context: { arguments: { strict: 'true' } },
    });
    expect(prompt.completion).toEqual({ values: ['typescript', 'strict'], total: 2, hasMore: false });
    const resource = await client.client.complete({
      ref: { type: 'ref/resource', uri: 'n://{a}' },
      argument: { name: 'a', value: '' },
    });
    expect(resource.completion.values).toEqual(['x']);
  });

  test('an answer has at most 100 suggestions', async () => {
    const complete = { language: () => Array.from({ length: 101 }, String) };
    await using client = await connectInMemory(factoryOf([{ ...review, complete }]), { era });
    const { completion } = await client.client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'language', value: '' },
    });
    expect([completion.values.length, completion.total, completion.hasMore]).toEqual([100, 101, true]);
  });
});

test('the types of arguments come from the schema', () => {
  expectTypeOf(review.handler).parameter(0).toEqualTypeOf<{ language: string; strict: boolean }>();
  const prompts: PromptModule[] = [review, hello];
  expect(prompts).toHaveLength(2);
  definePrompt({
    name: 'wrong',
    description: 'Returns a number',
    // @ts-expect-error a prompt is a text or messages
    handler: () => 1,
  });
});

test('an argument has the title of its schema', async () => {
  // The list method of the SDK's client drops the title.
  const whole = {
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  } as const;
  await using client = await connectInMemory(factoryOf([review]), { era: 'legacy' });
  expect(await client.client.request({ method: 'prompts/list' }, whole)).toMatchObject({
    prompts: [{ arguments: [{ name: 'language', title: 'Language' }, { name: 'strict' }] }],
  });
});

test('two prompts with one name are refused', () => {
  expect(factoryOf([hello, hello])).toThrow('Two prompts have one name');
});

test('an argument that takes no text does not compile', () => {
  const parts = { name: 'buy', description: 'Buys', handler: () => 'Buy' };
  // @ts-expect-error clients send texts only
  definePrompt({ ...parts, argsSchema: z.object({ budget: z.number() }) });
  definePrompt({
    ...parts,
    argsSchema: z.object({ budget: z.coerce.number(), size: z.enum(['s', 'm']).optional() }),
  });
});
