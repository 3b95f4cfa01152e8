// The chaos runs in short, and without the other gateways; docs/chaos.md is the long form. Faults of the state folder
// are in integration/state/state-store.test.ts, faults of containers in docker/orphans.test.ts.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../verifies.ts';

const SECONDS = process.env['WEIR_CHAOS_SECONDS'] ?? '10';
const script = fileURLToPath(new URL('../../scripts/chaos.mjs', import.meta.url));
const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

interface Row {
  readonly fault: string;
  readonly promise: string;
  readonly happened: string;
  readonly isKept?: boolean;
}

/** Faults that mostly wait run beside faults that work. */
const RUNS = [
  ['hung-server', 'vanished-client', 'killed-gateway'],
  ['failing-server', 'restarted-upstream', 'killed-server', 'reload'],
  ['killed-servers', 'flooding-server', 'unread-answers'],
] as const;

type Fault = (typeof RUNS)[number][number];

const TESTS: readonly [ids: string[], fault: Fault, sentence: string][] = [
  [['HEALTH-2', 'AGG-CHILD-4'], 'killed-servers', `servers are killed for ${SECONDS} s under load`],
  [['HEALTH-2'], 'killed-server', 'a server is killed once'],
  [['HEALTH-1', 'HEALTH-2'], 'hung-server', 'a server hangs, in real time'],
  [['HEALTH-2'], 'failing-server', 'a server exits at every start, in real time'],
  [['HEALTH-2'], 'restarted-upstream', 'a server on HTTP is restarted'],
  [['HEALTH-3'], 'reload', 'the config changes and breaks under load'],
  [['AGG-CALL-1'], 'vanished-client', 'clients are killed in the middle of their calls'],
  [['AGG-CALL-1'], 'unread-answers', 'a client reads nothing'],
  [['AGG-CALL-1'], 'flooding-server', 'a server floods its stdout'],
  [['AGG-CHILD-5'], 'killed-gateway', 'the gateway is killed'],
];

const started = new Map<Fault, Promise<Row[]>>();

/** Begins all runs with the first that a test asks for. */
function rowsOf(fault: Fault): Promise<Row[]> {
  if (started.size === 0)
    for (const faults of RUNS) {
      const rows = run(faults);
      for (const one of faults) started.set(one, rows);
    }
  return (started.get(fault) ?? run([fault])).then((rows) => rows.filter((row) => row.fault === fault));
}

async function run(faults: readonly Fault[]): Promise<Row[]> {
  const only = faults.flatMap((fault) => ['--only', fault]);
  // A broken promise is an exit code as well; what is printed says more.
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    ...only,
    '--seconds',
    SECONDS,
    '--json',
  ]).catch((error: unknown) => error as { stdout: string });
  return JSON.parse(stdout) as Row[];
}

for (const [ids, fault, sentence] of TESTS)
  onLinux(
    ids,
    `the gateway keeps every promise while ${sentence}`,
    async () => {
      const rows = await rowsOf(fault);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.filter(({ isKept }) => isKept !== true)).toEqual([]);
    },
    400_000,
  );
