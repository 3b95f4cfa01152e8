// @module-tag slow
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { fleet } from '../fleet/fleet.ts';
import { commandFor, temporaryFolder, type Json } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import { inspectorCli, node22, noJudges } from './judges.ts';

// The official Inspector on the command line: its output is the same through the gateway as directly.
const ERAS = ['legacy', 'auto', 'modern'] as const;
const SERVERS = ['everything', 'hello'] as const;

type Era = (typeof ERAS)[number];
type Server = (typeof SERVERS)[number] | 'gateway';

/** Exit code and output of a run of the Inspector. */
interface Report {
  readonly code: number;
  readonly output: Json;
  readonly complaint: Json | undefined;
}

const LISTS = { 'tools/list': 'tools', 'resources/list': 'resources', 'prompts/list': 'prompts' } as const;

/** Requests to the server 'everything'; `name` gives its names the form that they have where they are used. */
const REQUESTS: Record<string, (name: (own: string) => string) => string[]> = {
  'a call': (name) => call(name('get-annotated-message'), { messageType: 'success', includeImage: true }),
  'a call with structured content': (name) => call(name('get-structured-content'), { location: 'Chicago' }),
  'a call that fails': (name) => call(name('get-sum'), { a: 'one', b: 2 }),
  'a prompt': (name) => [
    'prompts/get',
    '--prompt-name',
    name('args-prompt'),
    '--prompt-args',
    'city=Lyon',
    'state=Rhône',
  ],
  'a prompt that is refused': (name) => ['prompts/get', '--prompt-name', name('args-prompt')],
  'a resource': () => ['resources/read', '--uri', 'demo://resource/static/document/features.md'],
};

const folder = temporaryFolder();
const catalogue = join(folder, 'inspector.json');

describe('the Inspector, through the gateway and directly', () => {
  beforeAll(() => {
    const { everything, hello } = fleet(folder);
    const servers = { everything: everything!, hello: hello! };
    const { command, args } = commandFor(servers, { folder });
    writeFileSync(catalogue, JSON.stringify({ mcpServers: { ...servers, gateway: { command, args } } }));
  });

  for (const [method, list] of Object.entries(LISTS)) {
    verifies.skipIf(noJudges)(
      ['AGG-REG-1', 'ERA-1'],
      `${method} of the Inspector has the items of all servers in every era`,
      async () => {
        const [through, ...direct] = await Promise.all([
          throughGateway([method]),
          ...SERVERS.map((server) => inspect(server, 'legacy', [method])),
        ]);
        const union = direct.flatMap((report, index) => named(itemsOf(report, list), list, SERVERS[index]!));
        expect(union.length).toBeGreaterThan(3);
        for (const [era, report] of through)
          expect(itemsOf(report, list)).toEqual(
            union.filter((item) => isCallable(era, item)).map((item) => itemIn(era, item)),
          );
      },
    );
  }

  for (const [what, request] of Object.entries(REQUESTS)) {
    verifies.skipIf(noJudges)(
      ['AGG-CALL-1', 'ERA-1'],
      `${what} of the Inspector is the same through the gateway in every era`,
      async () => {
        const [through, direct] = await Promise.all([
          throughGateway(request((own) => `everything:${own}`)),
          inspect(
            'everything',
            'legacy',
            request((own) => own),
          ),
        ]);
        for (const [era, report] of through) expect(report).toEqual(reportIn(era, direct));
      },
    );
  }
});

async function throughGateway(request: string[]): Promise<[Era, Report][]> {
  return await Promise.all(
    ERAS.map(async (era) => [era, await inspect('gateway', era, request)] as [Era, Report]),
  );
}

function call(name: string, args: Json): string[] {
  return ['tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
}

function itemsOf({ code, output, complaint }: Report, list: string): Json[] {
  expect({ code, complaint }).toEqual({ code: 0, complaint: undefined });
  return (output['result'] as Record<string, Json[]>)[list] ?? [];
}

/** Both servers are legacy: a tool of theirs that must be called as a task is not callable in the other era, and not listed. */
function isCallable(era: Era, { execution }: Json): boolean {
  return era === 'legacy' || (execution as Json | undefined)?.['taskSupport'] !== 'required';
}

/** The Inspector leaves out of a modern list what the modern revision no longer has. */
function itemIn(era: Era, { execution, ...item }: Json): Json {
  return era === 'legacy' && execution !== undefined ? { ...item, execution } : item;
}

/** The modern revision wants to know how long what was read may be kept; for an earlier server that is: not at all. */
function reportIn(era: Era, report: Report): Report {
  const result = report.output['result'] as Json | undefined;
  if (era === 'legacy' || result?.['contents'] === undefined) return report;
  return { ...report, output: { result: { ...result, ttlMs: 0, cacheScope: 'private' } } };
}

function named(items: Json[], list: string, server: string): Json[] {
  if (list === 'resources') return items;
  return items.map((item) => ({ ...item, name: `${server}:${String(item['name'])}` }));
}

async function inspect(server: Server, era: Era, request: string[]): Promise<Report> {
  const options = [
    '--config',
    catalogue,
    '--server',
    server,
    '--protocol-era',
    era,
    '--format',
    'json',
    '--quiet',
  ];
  const args = [inspectorCli!, '--cli', ...options, '--method', ...request];
  // A folder of its own for its settings; and without certificates of the machine it starts in half the time.
  const env = { PATH: process.env['PATH'], HOME: folder };
  return await new Promise((resolve) => {
    execFile(node22!, args, { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      // The Inspector names the tool in its complaints, by the name that it was asked for.
      const complaint = parse(stderr.replaceAll('everything:', ''));
      resolve({ code, output: parse(stdout) ?? {}, complaint });
    });
  });
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text === '' ? undefined : { text };
  }
}
