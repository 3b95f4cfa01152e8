import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  /** The suite's reason where the check did not succeed. */
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
  return await withFolder(async (folder) => {
    const output = await runSuite(['server', '--url', url, '--requirements', requirements, '-o', folder]);
    const scenarios = readdirSync(folder).sort();
    if (scenarios.length === 0 || scenarios.length !== announced(output))
      throw new Error(`The conformance suite did not run all its scenarios: ${output.slice(-2000)}`);
    return scenarios.flatMap((scenario) => readVerdicts(join(folder, scenario), scenarioOf(scenario)));
  });
}

/** A client scenario, at a revision or, for those of extensions, at none. */
export interface ClientScenario {
  readonly scenario: string;
  readonly requirements?: Requirements;
}

/** The client scenarios that need no authorization: those of both sets, and those of extensions. */
export async function clientScenarios(): Promise<ClientScenario[]> {
  const revisions: Requirements[] = ['2025-11-25', '2026-07-28'];
  const sets = await Promise.all(
    revisions.map(async (requirements) => {
      const listed = await runSuite(['list', '--requirements', requirements]);
      return clientScenariosIn(listed).map((scenario) => ({ scenario, requirements }));
    }),
  );
  const frozen = sets.flat();
  const known = new Set(frozen.map(({ scenario }) => scenario));
  const rest = clientScenariosIn(await runSuite(['list'])).filter((scenario) => !known.has(scenario));
  return [...frozen, ...rest.map((scenario) => ({ scenario }))];
}

function clientScenariosIn(listed: string): string[] {
  const required = /^Client scenarios[^\n]*\n((?: {2}- .*\n)*)/m.exec(listed)?.[1] ?? '';
  const unscored = [...listed.matchAll(/^ {4}- (\S+) \[client\]$/gm)].map(([, name = '']) => name);
  const names = [...required.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
  return [...names, ...unscored].filter((name) => !name.startsWith('auth/'));
}

/** Has the suite judge a client program in one scenario; it gets the URL of the scenario's server as its last argument. */
export async function runClientScenario(
  command: string,
  { scenario, requirements }: ClientScenario,
): Promise<Verdict[]> {
  return await withFolder(async (folder) => {
    const version = requirements === undefined ? [] : ['--spec-version', requirements];
    const args = ['client', '--command', command, '--scenario', scenario, ...version, '-o', folder];
    const output = await runSuite(args);
    const [results = ''] = readdirSync(folder);
    const verdicts = readVerdicts(join(folder, results), scenario);
    // The program's own end counts too, where the scenario does not expect it to fail.
    return /OVERALL: FAILED/.test(output) ? [...verdicts, failed(scenario, 'overall', output)] : verdicts;
  });
}

async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-conformance-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with what it printed, whatever its verdict. */
async function runSuite(args: readonly string[]): Promise<string> {
  const [node, suite] = [node22, conformanceCli];
  if (node === undefined || suite === undefined)
    throw new Error('There are no judges on this machine: skip the test by `noJudges`');
  // A client program that it starts runs on the Node that runs the tests, and starts the build that they start.
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
  const env = { PATH: path, WEIR_DIST: process.env['WEIR_DIST'] };
  const options = { env, maxBuffer: 64 << 20, timeout: PATIENCE_MS };
  return new Promise((resolve) => {
    execFile(node, [suite, ...args], options, (_error, stdout, stderr) => {
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
  if (!existsSync(file)) return [failed(scenario, 'runs', 'the scenario broke or took too long')];
  const checks = JSON.parse(readFileSync(file, 'utf8')) as Check[];
  return checks.map(({ id, name, status, errorMessage }) => ({
    scenario,
    check: `${id} ${name}`,
    status,
    ...(errorMessage !== undefined && { message: errorMessage }),
  }));
}

function failed(scenario: string, check: string, message: string): Verdict {
  return { scenario, check, status: 'FAILURE', message };
}
