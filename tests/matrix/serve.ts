// `weir serve` over a config, at a port that nobody else has.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { commandFor, type Config } from '../e2e/harness.ts';
import { PATIENCE_MS } from '../e2e/line-client.ts';

export interface Served {
  readonly url: string;
  readonly token: string;
  readonly stderr: () => string;
  stop(): Promise<void>;
}

/** Starts it and waits until it says where it is. */
export async function startServe(config: Config, args: readonly string[] = []): Promise<Served> {
  const { command, args: all, env, cwd } = commandFor(config, { args: ['--port', '0', ...args] });
  const [bundle, ...rest] = all;
  const child = spawn(command, [bundle ?? '', 'serve', ...rest], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const url = /https?:\/\/[^\s/]+\/mcp\b/.exec(said)?.[0];
    if (url !== undefined && said.includes('\n')) {
      const token = /token=([\w.~+/-]+)/.exec(said)?.[1] ?? '';
      const stop = async (): Promise<void> => void (child.kill('SIGTERM'), await exit);
      return { url, token, stderr: () => said, stop };
    }
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`weir serve did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
