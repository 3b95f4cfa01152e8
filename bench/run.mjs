// `npm run bench`: everything in one run, as ratios. `--help` lists the options; README.md tells how to read it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { cpus, release, totalmem, type as systemName } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { judge } from './gates.mjs';
import { MEASURES } from './measures.mjs';
import { installPeer, PEERS } from './peers.mjs';
import { canMeasureCpu } from './processes.mjs';
import { printGates, printMeasure } from './report.mjs';
import { startOnce } from './second-start.mjs';
import { WEIR } from './variants.mjs';

const HELP = `npm run bench -- [options]
  --quick          fewer rounds and sizes, under a minute: what the tests gate on
  --only NAME      one measure, or http for all of that kind (may be repeated):
                   ${Object.keys(MEASURES).join(', ')}
  --peer NAME      also measure ${Object.keys(PEERS).join(', ')} (may be repeated; installed from npm on first use)
  --gateway FILE   measure this script instead of the built command
  --before FILE    measure this build, too, in the same rounds (measure before)
  --json           print everything as one JSON document
`;
/** Of one measure. `before` takes the longest, and has taken more than 120 s. */
const LIMIT_SECONDS = { quick: 60, full: 240 };

const options = readOptions(process.argv.slice(2));
if (options !== undefined) await main(options);

function readOptions(argv) {
  const type = 'string';
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      only: { type, multiple: true, default: Object.keys(MEASURES) },
      peer: { type, multiple: true, default: [] },
      gateway: { type, default: WEIR },
      before: { type },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const problem = problemOf(values);
  if (problem === undefined) return values;
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exitCode = 2;
}

function problemOf({ only, peer, gateway, before }) {
  const unknown = only.find((name) => measuresOf(name).length === 0);
  if (unknown !== undefined) return `There is no measure called ${unknown}.`;
  const stranger = peer.find((name) => !Object.hasOwn(PEERS, name));
  if (stranger !== undefined) return `There is no peer called ${stranger}.`;
  if (!existsSync(gateway)) return `${gateway} does not exist: build it first with npm run build.`;
  if (before !== undefined && !existsSync(before)) return `${before} does not exist.`;
  return undefined;
}

function measuresOf(name) {
  return Object.keys(MEASURES).filter((each) => each === name || each.startsWith(`${name}-`));
}

async function main({ only, json, quick, peer, gateway, before }) {
  const say = (text) => json || process.stdout.write(text);
  for (const name of peer) installPeer(name);
  const machine = describeMachine(peer);
  say(`# Benchmark\n\n${Object.values(machine).join(' · ')}\n`);
  if (gateway !== WEIR) say(`\nThe rows called weir are not the built command but ${gateway}.\n`);
  const build = statSync(gateway).mtimeMs;
  const cache = await startOnce(gateway);
  const results = {};
  for (const name of new Set(only.flatMap(measuresOf))) {
    if (process.stderr.isTTY) process.stderr.write(`measuring ${name} …\r`);
    results[name] = await measure(name, { quick, peer, gateway, before });
    say(printMeasure(MEASURES[name].title, results[name]));
  }
  if (!existsSync(gateway) || statSync(gateway).mtimeMs !== build)
    throw new Error(`${gateway} was built anew during the run: these are figures of two builds.`);
  cache.remove();
  const gates = judge(results);
  say(printGates(gates));
  if (json) process.stdout.write(`${JSON.stringify({ machine, quick, gateway, results, gates }, null, 2)}\n`);
  const failed = Object.values(results).some((result) => result.failed !== undefined);
  if (failed || gates.some(({ passed }) => !passed)) process.exitCode = 1;
}

function describeMachine(peers) {
  const pin =
    pinning().length === 0 ? 'not pinned (no taskset)' : 'latency and throughput pinned to one core';
  const cpu = canMeasureCpu ? 'CPU from schedstat' : 'no CPU figures (no schedstat)';
  return {
    node: `Node ${process.version}`,
    cores: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${systemName()} ${release()}`,
    sdk: ['server', 'client', 'node'].map(versionOf).join(', '),
    ...(peers.length > 0 && { peers: peers.map((name) => `${name} ${PEERS[name].version}`).join(', ') }),
    pin,
    cpu,
  };
}

function versionOf(part) {
  const name = `@modelcontextprotocol/${part}`;
  const description = readFileSync(new URL('../package.json', import.meta.resolve(name)), 'utf8');
  return `${name} ${JSON.parse(description).version}`;
}

/** Each measure gets a fresh process, so that none inherits another's heap. */
async function measure(name, measureOptions) {
  const script = fileURLToPath(new URL('measure.mjs', import.meta.url));
  const pin = MEASURES[name].pinned ? pinning() : [];
  const [command, ...args] = [...pin, process.execPath, script, name, JSON.stringify(measureOptions)];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: cleanEnvironment() });
  const seconds = measureOptions.quick ? LIMIT_SECONDS.quick : LIMIT_SECONDS.full;
  const timer = setTimeout(() => child.kill('SIGTERM'), seconds * 1000);
  let output = '';
  for await (const chunk of child.stdout) output += chunk;
  clearTimeout(timer);
  if (output === '')
    return { failed: `it broke off, or took more than ${seconds} s; what it said is on stderr` };
  return JSON.parse(output);
}

// NODE_EXTRA_CA_CERTS costs every Node 20 process some 40 ms at its start; NODE_OPTIONS and coverage cost more.
function cleanEnvironment() {
  const kept = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'SystemRoot', 'XDG_CACHE_HOME'];
  return Object.fromEntries(
    kept.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
  );
}

/** The last core this process may use: unpinned, the same pair of processes shows two latencies, by whether a core woke up. */
function pinning() {
  if (spawnSync('taskset', ['--version']).status !== 0) return [];
  const allowed = /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ['taskset', '-c', allowed.split(/[,-]/).at(-1)];
}
