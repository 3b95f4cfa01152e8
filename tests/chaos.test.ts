// The command's chaos runs, in short; `npm run chaos -- --seconds 120` is the long form.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from './verifies.ts';

const SECONDS = process.env['WEIR_CHAOS_SECONDS'] ?? '10';
const script = fileURLToPath(new URL('../scripts/chaos.mjs', import.meta.url));
const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

interface Row {
  readonly fault: string;
  readonly promise: string;
  readonly happened: string;
  readonly isKept: boolean;
}

onLinux(
  ['HEALTH-2', 'AGG-CHILD-4'],
  `servers are killed for ${SECONDS} s under load, and every promise is kept`,
  async () => {
    const args = [script, '--only', 'killed-servers', '--seconds', SECONDS, '--json'];
    // A broken promise is an exit code as well; what is printed says more.
    const { stdout } = await promisify(execFile)(process.execPath, args).catch(
      (error: unknown) => error as { stdout: string },
    );
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ isKept }) => !isKept)).toEqual([]);
  },
  400_000,
);
