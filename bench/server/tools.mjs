// The tools that every contestant serves: three fields in, four out, and a handler that costs next to nothing.
// `z` is the zod that the contestant's library uses, so that no process loads two copies.

const pad = (index) => String(index).padStart(3, '0');

export const toolName = (index) => `record-get-${pad(index)}`;

/** Returns `count` tools, each with schemas of its own; `plain` ones have no output schema. */
export function defineTools(z, { count, plain }) {
  return Array.from({ length: count }, (_, index) => {
    const name = toolName(index);
    return {
      name,
      description: `Returns record ${index} of the catalogue. ${'It reads one table and changes nothing. '.repeat(3)}`,
      inputSchema: inputSchema(z),
      ...(!plain && { outputSchema: outputSchema(z) }),
      answer: (args) => answerOf(name, args),
    };
  });
}

function inputSchema(z) {
  return z.object({
    query: z.string().min(1).describe('Text that the record has to contain'),
    limit: z.number().int().min(1).max(1000).describe('Number of lines, 1000 at most'),
    exact: z.boolean().describe('Compares case, too'),
  });
}

function outputSchema(z) {
  return z.object({
    id: z.string().describe('Identifier of the record'),
    title: z.string().describe('Title as it is shown'),
    score: z.number().describe('Rank among the records'),
    found: z.boolean().describe('False for a record that was made up'),
  });
}

/** The arguments of call number `call`: none is like the one before. */
export const argumentsOf = (call) => ({
  query: `query ${call}`,
  limit: 1 + (call % 1000),
  exact: call % 2 === 0,
});

export function answerOf(name, { query, limit, exact }) {
  return { id: `${name}:${query}`, title: `Record of ${query}`, score: limit / 2, found: exact };
}

/** The result in the form of the protocol, for libraries that leave this to the handler. */
export function resultOf({ outputSchema: promised, answer }, args) {
  const value = answer(args);
  const content = [{ type: 'text', text: JSON.stringify(value) }];
  return promised === undefined ? { content } : { content, structuredContent: value };
}
