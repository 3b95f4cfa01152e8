import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conformanceCli, node22 } from './judges.ts';

/** A frozen set of scenarios; each runs at its own revision of the protocol. */
export type Requirements = '2025-11-25' | '2026-07-28';

/** One check of one scenario. A scenario may make the same check several times, in the same order every time. */
export interface Verdict {
  readonly scenario: string;
  /** The check's id and its name: several cases share one id. */
  readonly check: string;
  /** WARNING is a SHOULD that was not met, INFO no more than a remark. */
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  /** Why it is no success, in the suite's words. */
  readonly message?: string;
}

// A whole set takes seconds, and a scenario that hangs 30 of them; nothing that we start outlives its test for long.
const PATIENCE_MS = 120_000;

interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: Verdict['status'];
  readonly errorMessage?: string;
}

/** Has the official suite judge the server at `url`, which must be on this machine; the verdicts come by scenario. */
export async function runConformance(url: string, requirements: Requirements): Promise<Verdict[]> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-conformance-'));
  try {
    const output = await runSuite(url, requirements, folder);
    const scenarios = readdirSync(folder).sort();
    if (scenarios.length === 0 || scenarios.length !== announced(output))
      throw new Error(`The conformance suite did not run all its scenarios: ${output.slice(-2000)}`);
    return scenarios.flatMap((scenario) => readVerdicts(join(folder, scenario), scenarioOf(scenario)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with what it printed, whatever its verdict. */
async function runSuite(url: string, requirements: Requirements, folder: string): Promise<string> {
  const [node, suite] = [node22, conformanceCli];
  if (node === undefined || suite === undefined)
    throw new Error('There are no judges on this machine: skip the test by `noJudges`');
  const args = [suite, 'server', '--url', url, '--requirements', requirements, '-o', folder];
  const options = { env: {}, maxBuffer: 64 << 20, timeout: PATIENCE_MS };
  return new Promise((resolve) => {
    execFile(node, args, options, (_error, stdout, stderr) => {
      resolve(`${stdout}\n${stderr}`);
    });
  });
}

function announced(output: string): number {
  return Number(/^Running requirements \S+ \((\d+) scenarios\)/m.exec(output)?.[1]);
}

// The suite names a folder `server-<scenario>-<time>`.
function scenarioOf(folder: string): string {
  return folder.replace(/^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/, '$1');
}

function readVerdicts(folder: string, scenario: string): Verdict[] {
  const file = join(folder, 'checks.json');
  // The folder is made before the scenario runs, and stays empty when it breaks.
  if (!existsSync(file))
    return [{ scenario, check: 'runs', status: 'FAILURE', message: 'the scenario broke or took too long' }];
  const checks = JSON.parse(readFileSync(file, 'utf8')) as Check[];
  return checks.map(({ id, name, status, errorMessage }) => ({
    scenario,
    check: `${id} ${name}`,
    status,
    ...(errorMessage !== undefined && { message: errorMessage }),
  }));
}
