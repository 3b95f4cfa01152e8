#!/usr/bin/env node
// @ts-check
// A real container engine for the tests: Debian's packages, unpacked into a cache and never installed, with a socket,
// folders and a network bridge of its own. It ends, and leaves nothing, when the process that has started it ends.
// `node scripts/dockerd.mjs` runs one until its stdin ends or Ctrl-C, and prints where it is.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { packageEnvironment, unpackPackages } from './debian-packages.mjs';
import { root, runMain, tryTo } from './steps.mjs';

const cache = join(root, '.cache', 'docker');
const REQUIRED = ['docker.io', 'containerd', 'runc', 'tini'];
/** Parts of the above in some releases, or installed nearly everywhere. */
const OPTIONAL = ['docker-cli', 'libdevmapper1.02.1'];
const PATIENCE_MS = 30_000;

/**
 * @typedef {object} DockerEngine
 * @property {string} host what DOCKER_HOST must be
 * @property {string} bin a folder with the `docker` command alone
 * @property {boolean} hasNetwork whether ports can be published
 * @property {() => Promise<void>} stop
 */

// $1 is the folder, $2 the bridge, the rest the daemon. The end of stdin is the cue to end, whoever has ended.
const KEEPER = `
folder=$1 bridge=$2
shift 2
setsid "$@" >"$folder/log" 2>&1 </dev/null &
engine=$!
trap '' INT TERM HUP
cat >/dev/null
for shim in $(docker -H "unix://$folder/docker.sock" ps -aq 2>/dev/null); do
  docker -H "unix://$folder/docker.sock" rm -fv "$shim" >/dev/null 2>&1
done
kill "$engine" 2>/dev/null
wait "$engine"
ip link del "$bridge" 2>/dev/null
grep -o " $folder/[^ ]*" /proc/mounts | sort -r | while read -r mount; do umount -l "$mount"; done
rm -rf "$folder"
`;

/** Why no engine can be had here; undefined where one can be tried. */
export function whyNoEngine() {
  if (process.platform !== 'linux') return 'containers: only on Linux';
  if (process.getuid?.() !== 0) return 'containers: needs root';
  if (!existsSync('/usr/bin/apt-get') && !existsSync(cache)) return "containers: needs Debian's packages";
  return undefined;
}

/**
 * Starts an engine of its own; rejects where that cannot be done here.
 * @returns {Promise<DockerEngine>}
 */
export async function startEngine() {
  const unpacked = unpackPackages(cache, { required: REQUIRED, optional: OPTIONAL });
  const env = packageEnvironment(unpacked);
  const bin = commandFolder();
  const folder = mkdtempSync(join(tmpdir(), 'weir-docker-'));
  const bridge = `weir${process.pid.toString(36)}${Math.floor(Math.random() * 36).toString(36)}`;
  const hasNetwork = addBridge(bridge);
  const network = hasNetwork
    ? [`--bridge=${bridge}`, `--userland-proxy-path=${join(unpacked, 'usr/sbin/docker-proxy')}`]
    : ['--bridge=none'];
  const args = [...daemonArguments(folder, unpacked), ...network];
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'weir-dockerd', folder, bridge, 'dockerd', ...args], {
    env: { ...env, PATH: `${bin}:${env.PATH}` },
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  const stop = async () => {
    keeper.stdin.end();
    await ended;
  };
  const host = `unix://${join(folder, 'docker.sock')}`;
  const log = join(folder, 'log');
  if (await answers({ host, bin, log })) return { host, bin, hasNetwork, stop };
  const words = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(-3).join('\n') : '';
  await stop();
  throw new Error(`dockerd does not start here\n${words}`);
}

function commandFolder() {
  const folder = join(cache, 'bin');
  mkdirSync(folder, { recursive: true });
  tryTo(() => symlinkSync('../root/usr/bin/docker', join(folder, 'docker')));
  return folder;
}

/**
 * @param {string} folder
 * @param {string} unpacked
 */
function daemonArguments(folder, unpacked) {
  return [
    `--data-root=${join(folder, 'data')}`,
    `--exec-root=${join(folder, 'exec')}`,
    `--pidfile=${join(folder, 'pid')}`,
    `--host=unix://${join(folder, 'docker.sock')}`,
    `--init-path=${join(unpacked, 'usr', 'bin', 'docker-init')}`,
    // Nothing of the machine's own network is changed, and containers reach nothing beyond it.
    '--iptables=false',
    '--ip6tables=false',
    '--ip-forward=false',
    '--ip-masq=false',
  ];
}

/**
 * A bridge of its own: engines that shared one would take it away from each other.
 * @param {string} name
 */
function addBridge(name) {
  const ip = (/** @type {string[]} */ ...args) => execFileSync('ip', args, { stdio: 'ignore' });
  try {
    ip('link', 'add', 'name', name, 'type', 'bridge');
    ip('addr', 'add', `172.30.${process.pid % 250}.1/24`, 'dev', name);
    ip('link', 'set', name, 'up');
    return true;
  } catch {
    return false;
  }
}

/** @param {{ host: string; bin: string; log: string }} engine */
async function answers({ host, bin, log }) {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    if (tryTo(() => execFileSync(join(bin, 'docker'), ['-H', host, 'version'], { stdio: 'ignore' })))
      return true;
    if (existsSync(log) && /failed to start daemon/.test(readFileSync(log, 'utf8'))) return false;
    await delay(100);
  }
  return false;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await runMain(async () => {
    const reason = whyNoEngine();
    if (reason !== undefined) throw new Error(reason);
    const { host, bin, stop } = await startEngine();
    process.stdout.write(`export DOCKER_HOST=${host} PATH=${bin}:$PATH\n`);
    await new Promise((resolve) => {
      process.stdin.on('end', resolve).resume();
      process.once('SIGINT', resolve).once('SIGTERM', resolve);
    });
    await stop();
  });
