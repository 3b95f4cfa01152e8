import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { handleToolError } from '../errors.ts';
import { buildAuthResponse, error, resultOf, success } from '../results.ts';
import { defineTool, type ToolHandler, type ToolModule } from './tool-module.ts';

describe('types of tools', () => {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
    outputSchema: z.object({ sum: z.number() }),
    handler: ({ a, b }) => ({ sum: a + b }),
  });
  const greet = defineTool({
    name: 'greet',
    description: 'Greets',
    inputSchema: z.object({ who: z.string() }),
    handler: async ({ who }, _extra, context: { greeting: string }) => `${context.greeting}, ${who}`,
  });

  test('a handler gets the parsed arguments', () => {
    expectTypeOf(add.handler).parameter(0).toEqualTypeOf<{ a: number; b: number }>();
    expectTypeOf(add.name).toEqualTypeOf<'add'>();
    const tools: ToolModule[] = [add, greet];
    expectTypeOf(tools).toEqualTypeOf<ToolModule[]>();
  });

  test('a module may be typed by hand, as its interface says', () => {
    const byHand: ToolModule<{ a: number }, { sum: number }, { base: number }> = {
      name: 'by-hand',
      description: 'Adds to a base',
      inputSchema: z.object({ a: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      handler: ({ a }, _extra, { base }) => ({ sum: a + base }),
    };
    expectTypeOf(byHand.handler).toEqualTypeOf<
      ToolHandler<{ a: number }, { sum: number }, { base: number }>
    >();
    expectTypeOf<z.ZodType<{ a: number }>>().toExtend<(typeof byHand)['inputSchema']>();
    const text: ToolModule<{ a: number }, string> = {
      ...byHand,
      outputSchema: z.string(),
      handler: () => 'a',
    };
    const tools: ToolModule[] = [byHand, text];
    expectTypeOf(tools).toEqualTypeOf<ToolModule[]>();
    const wrong: ToolModule<{ a: number }, { sum: number }> = {
      ...byHand,
      // @ts-expect-error sum is a number
      handler: () => ({ sum: 'three' }),
    };
    expectTypeOf(wrong.name).toBeString();
  });

  test('builders of results fit a schema with all branches, and no other', () => {
    const outputSchema = resultOf(z.object({ type: z.literal('success'), n: z.number() }));
    const parts = { name: 'all', description: 'All branches', inputSchema: z.object({ n: z.number() }) };
    defineTool({
      ...parts,
      outputSchema,
      handler: ({ n }) => {
        if (n === 1) return error('one');
        if (n === 2) return buildAuthResponse('two', 'https://example.com');
        if (n === 3) return { type: 'success', n };
        if (n === 4) return handleToolError(new Error('four'));
        return success({ n });
      },
    });
    defineTool({
      ...parts,
      outputSchema: z.object({ list: z.array(z.object({ kind: z.literal(['a', 'b']) })) }),
      handler: async () => ({ list: [{ kind: 'a' }] }),
    });
    defineTool({
      ...parts,
      handler: () => ({ isError: true, content: [{ type: 'text', text: 'without a schema' }] }),
    });
    defineTool({
      ...parts,
      outputSchema,
      // @ts-expect-error no branch has this type
      handler: () => ({ type: 'succes', n: 3 }),
    });
    defineTool({
      ...parts,
      outputSchema: z.object({ n: z.number() }),
      // @ts-expect-error the schema has no branch for a login
      handler: () => buildAuthResponse('two', 'https://example.com'),
    });
  });

  test('a handler that returns what its schema forbids does not compile', () => {
    defineTool({
      name: 'wrong',
      description: 'Returns a text for a number',
      inputSchema: z.object({}),
      outputSchema: z.object({ sum: z.number() }),
      // @ts-expect-error sum is a number
      handler: () => ({ sum: 'three' }),
    });
    defineTool({
      name: 'wrong',
      description: 'Returns a text for a number',
      inputSchema: z.object({}),
      outputSchema: z.object({ sum: z.number() }),
      // @ts-expect-error sum is a number
      handler: async () => ({ content: [], structuredContent: { sum: 'three' } }),
    });
    defineTool({
      name: 'wrong',
      description: 'Returns nothing',
      inputSchema: z.object({}),
      outputSchema: z.object({ sum: z.number() }),
      // @ts-expect-error nothing is returned
      handler: () => {},
    });
    defineTool({
      name: 'wrong',
      description: 'Returns an object without a schema',
      inputSchema: z.object({}),
      // @ts-expect-error a text or a whole result
      handler: () => ({ sum: 3 }),
    });
  });
});
