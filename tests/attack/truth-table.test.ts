// The truth table of docs/names.md, cell by cell.
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { fixture, scripted, textOf, type Received, type ServerEntry } from '../support/harness.ts';
import { serveInProcess, type InProcess } from '../support/in-process.ts';
import { verifies } from '../verifies.ts';

interface Offer {
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly uris: readonly string[];
  readonly templates: readonly string[];
}

/** A server that answers everything with its label, and crashes when told to. */
function server(label: string, { tools, prompts, uris, templates }: Offer): ServerEntry {
  return scripted(`
    import { serve, text, tool } from 'stdio';
    serve({
      name: '${label}',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      tools: ${JSON.stringify(['crash', ...tools])}.map((name) => tool(name)),
      on: {
        'tools/call': ({ name }) => (name === 'crash' ? process.exit(1) : text('${label}')),
        'prompts/list': () => ({ prompts: ${JSON.stringify(prompts)}.map((name) => ({ name })) }),
        'prompts/get': () => ({ description: '${label}', messages: [] }),
        'resources/list': () => ({ resources: ${JSON.stringify(uris)}.map((uri) => ({ uri, name: uri })) }),
        'resources/templates/list': () => ({
          resourceTemplates: ${JSON.stringify(templates)}.map((uriTemplate) => ({ uriTemplate, name: 't' })),
        }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: '${label}' }] }),
      },
    });
  `);
}

const wanted = ['b__delete', 'b:delete', 'b.delete', 'b/delete', 'b__greet', 'both'];
const a = server('a', { tools: wanted, prompts: wanted, uris: [], templates: ['{+any}'] });
const b = server('b', {
  tools: ['delete', 'both'],
  prompts: ['greet'],
  uris: ['y://one'],
  templates: ['y://item/{id}'],
});

/** Starts a gateway with `b` in a state of the table. */
const states: Record<string, () => Promise<InProcess>> = {
  runs: () => serve(b),
  starts: () => serve(fixture('silent')),
  failed: () => serve({ command: 'no-such-command' }),
  lost: async () => {
    const weir = await serve(b);
    await weir.callTool('b__crash');
    return weir;
  },
  disabled: async () => {
    const weir = await serve(b);
    await weir.gateway.disable('b');
    return weir;
  },
  removed: async () => {
    const weir = await serve(b);
    await weir.gateway.reload({ mcpServers: { a } });
    return weir;
  },
};

async function serve(entry: ServerEntry): Promise<InProcess> {
  const weir = serveInProcess(
    { a, b: entry },
    { keepGoing: true, separator: '__', startupTimeout: 60_000, supervision: { backOffMs: [60_000] } },
  );
  await weir.initialize();
  await weir.tools();
  return weir;
}

async function ask(weir: InProcess, what: string, name: string): Promise<Received> {
  if (what === 'tool') return weir.callTool(name);
  if (what === 'prompt') return weir.request('prompts/get', { name });
  return weir.request('resources/read', { uri: name });
}

/** Says in the words of the table what became of a request. */
function outcome(answer: Received): string {
  const { error, result } = answer;
  if (error === undefined) {
    const [content] = (result?.['contents'] ?? []) as { text: string }[];
    return `${content?.text ?? (result?.['description'] as string | undefined) ?? textOf(answer)} answers`;
  }
  if (/'b' is still starting/u.test(error.message)) return 'b is starting';
  if (/its server 'b' is not running/u.test(error.message)) return 'b is away';
  return / may mean .* or /u.test(error.message) ? 'ambiguous' : 'not found';
}

/** The rows of the table: what is asked for, by what name, and the outcome in each state. */
function readTable(): { head: string[]; rows: [what: string, name: string, ...outcomes: string[]][] } {
  const page = readFileSync(new URL('../../docs/names.md', import.meta.url), 'utf8');
  const lines = page.split('\n').filter((line) => line.startsWith('| '));
  const [head = [], ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return {
    head: head.slice(1),
    rows: rows.map(([asked = '', ...outcomes]) => {
      const [, what = '', name = ''] = /^(\w+) `(.*)`$/u.exec(asked) ?? [];
      return [what, name, ...outcomes];
    }),
  };
}

describe('the truth table of names', () => {
  const { head, rows } = readTable();

  verifies('AGG-SEP-2', 'the truth table has a column for each state of a server', () => {
    expect(head).toEqual(Object.keys(states));
    expect(rows.length).toBeGreaterThan(10);
  });

  for (const [column, state] of head.entries()) {
    verifies(
      ['AGG-SEP-2', 'AGG-SEP-3', 'SAFE-4'],
      `H7: the truth table of names holds in state ${state}`,
      async () => {
        await using weir = await states[state]!();
        for (const [what, name, ...outcomes] of rows)
          expect(`${what} ${name}: ${outcome(await ask(weir, what, name))}`).toBe(
            `${what} ${name}: ${outcomes[column]}`,
          );
      },
    );
  }
});
