// Small programs that embed the gateway, each a process of its own: what keeps them alive, and what lets them end.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { fixture, temporaryFolder, type Ended } from '../../support/harness.ts';
import { bundleProgram } from '../../support/program.ts';
import { verifies } from '../../verifies.ts';

/** Runs a program that embeds the gateway until it ends. */
async function runProgram(text: string): Promise<Ended> {
  const file = await bundleProgram(text);
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file], (_, stdout, stderr) =>
      resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

/** A program that calls a tool whose server dies of the first call and is restarted after `backOffMs`. */
const callsDyingServer = (backOffMs: number, end: string): string => `
  import { createGateway } from '@weir/gateway';
  const gateway = createGateway(
    { mcpServers: { b: ${JSON.stringify(fixture('timed-work'))} } },
    { env: process.env, supervision: { backOffMs: [${backOffMs}, 500, 500] } },
  );
  await gateway.start();
  const file = ${JSON.stringify(join(temporaryFolder(), 'died'))};
  const call = gateway.callTool('b:die-reading', { file });
  ${end}
`;

describe('a program that embeds the gateway', () => {
  verifies(
    'HEALTH-6',
    'a program keeps running while its call waits for the restart of a server',
    async () => {
      const end = `console.log((await call).content[0].text); await gateway.close();`;
      const ended = await runProgram(callsDyingServer(500, end));
      expect(ended).toEqual({ code: 0, signal: null, stdout: 'lived\n', stderr: '' });
    },
  );

  verifies(
    'HEALTH-6',
    'a program ends when it closes the gateway while its call waits for a restart',
    async () => {
      const end = `
      setTimeout(() => gateway.close(), 300);
      await call.catch((error) => console.log(error.message));`;
      const began = performance.now();
      const ended = await runProgram(callsDyingServer(60_000, end));
      expect(ended).toEqual({ code: 0, signal: null, stdout: "Server 'b' exited with code 7\n", stderr: '' });
      expect(performance.now() - began).toBeLessThan(5000);
    },
  );
});
