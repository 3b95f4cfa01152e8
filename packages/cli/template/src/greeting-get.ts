import { defineTool, item } from '@weir/server';
import { z } from 'zod';

/** A tool to start from: rename it, and change its schemas. The compiler then says what else has to change. */
export const greetingGet = defineTool({
  name: 'greeting-get',
  description: 'Returns a greeting.',
  inputSchema: z.object({ name: z.string().min(1).describe('Name of a person') }),
  outputSchema: item(z.object({ greeting: z.string() })),
  handler: ({ name }) => ({ type: 'success', item: { greeting: `Hello, ${name}!` } }),
});
