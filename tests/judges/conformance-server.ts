import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../fixtures/conformance.mjs', import.meta.url));

/** Revisions of the server: 2026-07-28 and those before, or only those before. */
export type Make = 'dual' | 'legacy';

const options = { dual: [], legacy: ['--legacy'] } as const;

/** Our server for the conformance suite, on stdio. */
export function conformanceCommand(make: Make = 'dual'): {
  command: string;
  args: string[];
  env: Record<string, string>;
} {
  return { command: process.execPath, args: [program, ...options[make]], env: {} };
}

/** The same on HTTP. */
export interface ConformanceServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Ways of @weir/server to serve HTTP. */
export type Kit = 'server' | 'router' | 'fetch';

/** Starts the server at a free port. */
export async function startConformanceServer(make: Make = 'dual', kit?: Kit): Promise<ConformanceServer> {
  const way = kit === undefined ? ['--http', '0'] : ['--kit', kit];
  const child = spawn(process.execPath, [program, ...way, ...options[make]], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  for await (const url of createInterface({ input: child.stdout }))
    return {
      url,
      async stop() {
        child.kill();
        await exit;
      },
    };
  throw new Error(`The conformance server ended before it listened: ${program}`);
}
