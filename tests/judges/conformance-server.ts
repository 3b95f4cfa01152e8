import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../fixtures/conformance.mjs', import.meta.url));

/** Our server for the conformance suite, on stdio. */
export const conformanceCommand: { command: string; args: string[]; env: Record<string, string> } = {
  command: process.execPath,
  args: [program],
  env: {},
};

/** The same on HTTP. */
export interface ConformanceServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it at a port that nobody else has. */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const child = spawn(process.execPath, [program, '--http', '0'], {
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
