// The official Inspector on the command line, over HTTP: its output is the same through `weir serve` as directly.
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { temporaryFolder, type Json } from '../support/harness.ts';
import { startServe, type ServeProcess } from '../support/http.ts';
import { verifies } from '../verifies.ts';
import { conformanceCommand, startConformanceServer, type ConformanceServer } from './conformance-server.ts';
import { inspectorCli, node22, noJudges } from './judges.ts';

const ERAS = ['legacy', 'auto', 'modern'] as const;

const REQUESTS: Record<string, string[]> = {
  'tools/list': [],
  'tools/call': ['--tool-name', 'test_multiple_content_types'],
  'resources/read': ['--uri', 'test://static-text'],
  'prompts/get': ['--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=Lyon', 'arg2=Rhône'],
};

const folder = temporaryFolder();

// A gateway for each: a local server speaks the era of its first client, and others are bridged.
describe.each(ERAS)('the Inspector over HTTP in mode %s, through the gateway and directly', (era) => {
  let server: ConformanceServer;
  let gateway: ServeProcess;
  beforeAll(async () => {
    if (noJudges !== undefined) return;
    [server, gateway] = await Promise.all([
      startConformanceServer(),
      startServe({ conformance: conformanceCommand() }, { args: ['--no-prefix'] }),
    ]);
  });
  afterAll(() => Promise.all([server?.stop(), gateway?.[Symbol.asyncDispose]()]));

  for (const [method, args] of Object.entries(REQUESTS))
    verifies.skipIf(noJudges)(
      'ERA-1',
      `${method} of the Inspector over HTTP in mode ${era} is the same as directly`,
      async () => {
        const request = ['--protocol-era', era, '--method', method, ...args];
        const authorization = ['--header', `Authorization: Bearer ${gateway.token}`];
        const [direct, through] = await Promise.all([
          inspect(server.url, request),
          inspect(gateway.url, [...authorization, ...request]),
        ]);
        expect(direct.code).toBe(0);
        expect(through).toEqual(direct);
      },
    );
});

/** Exit code and output of a run of the Inspector. */
interface Report {
  readonly code: number;
  readonly output: Json | string;
  readonly complaint: string;
}

async function inspect(url: string, request: readonly string[]): Promise<Report> {
  const args = [inspectorCli ?? '', '--cli', url, '--format', 'json', '--quiet', ...request];
  const env = { PATH: process.env['PATH'], HOME: folder };
  return await new Promise((resolve) => {
    execFile(node22 ?? '', args, { env, cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: parse(stdout), complaint: stderr });
    });
  });
}

function parse(text: string): Json | string {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
