import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { fleet } from '../fleet/fleet.ts';
import { inspectorCli, node22, noJudges } from '../judges/judges.ts';
import { verifies } from '../verifies.ts';
import { commandFor, temporaryFolder, type Json } from './harness.ts';

// The official Inspector on the command line, asked the same of the gateway as of the servers behind it.
const ERAS = ['legacy', 'auto', 'modern'] as const;
const SERVERS = ['everything', 'hello'] as const;

type Server = (typeof SERVERS)[number] | 'gateway';

/** How a run of the Inspector ended, and what it said. */
interface Report {
  readonly code: number;
  readonly output: Json;
  readonly complaint: Json | undefined;
}

/** What lists are called, and what their items are called after. */
const LISTS = { 'tools/list': 'tools', 'resources/list': 'resources', 'prompts/list': 'prompts' } as const;

/** One request each, of the server 'everything'; `NAME` stands for the name that goes with the server asked. */
const REQUESTS: Record<string, (name: (own: string) => string) => string[]> = {
  'a call': (name) => call(name('get-annotated-message'), { messageType: 'success', includeImage: true }),
  'a call with structured content': (name) => call(name('get-structured-content'), { location: 'Chicago' }),
  'a call that fails': (name) => call(name('get-sum'), { a: 'one', b: 2 }),
  'a prompt': (name) => ['prompts/get', '--prompt-name', name('args-prompt'), '--prompt-args', 'city=Lyon', 'state=Rhône'],
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
    verifies.skipIf(noJudges)(['AGG-REG-1', 'ERA-1'], `${method} is the union in every era`, async () => {
      const direct = await Promise.all(SERVERS.map((server) => inspect(server, 'legacy', [method])));
      const union = direct.flatMap(({ output }, index) => named(output[list] as Json[], list, SERVERS[index]!));
      expect(union.length).toBeGreaterThan(3);
      const reports = await Promise.all(ERAS.map((era) => inspect('gateway', era, [method])));
      for (const { code, output } of reports) expect({ code, items: output[list] }).toEqual({ code: 0, items: union });
    });
  }

  for (const [what, request] of Object.entries(REQUESTS)) {
    verifies.skipIf(noJudges)(['AGG-CALL-1', 'ERA-1'], `${what} ends the same way in every era`, async () => {
      const direct = await inspect('everything', 'legacy', request((own) => own));
      expect(direct.output).not.toEqual({});
      const asked = request((own) => `everything:${own}`);
      const reports = await Promise.all(ERAS.map((era) => inspect('gateway', era, asked)));
      for (const report of reports) expect(report).toEqual(direct);
    });
  }
});

function call(name: string, args: Json): string[] {
  return ['tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
}

function named(items: Json[], list: string, server: string): Json[] {
  if (list === 'resources') return items;
  return items.map((item) => ({ ...item, name: `${server}:${String(item['name'])}` }));
}

async function inspect(server: Server, era: string, request: string[]): Promise<Report> {
  const options = ['--config', catalogue, '--server', server, '--protocol-era', era, '--format', 'json', '--quiet'];
  const args = [inspectorCli!, '--cli', ...options, '--method', ...request];
  // A folder of its own for its settings; and without certificates of the machine it starts in half the time.
  const env = { PATH: process.env['PATH'], HOME: folder };
  return await new Promise((resolve) => {
    execFile(node22!, args, { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, output: parse(stdout) ?? {}, complaint: parse(stderr) });
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
