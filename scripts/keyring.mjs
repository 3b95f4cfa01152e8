// @ts-check
// A real keychain for the tests: GNOME's keyring on a message bus of its own, in a folder of its own, from packages that
// are unpacked into a cache. It ends, and leaves nothing, when the process that has started it ends.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageEnvironment, unpackPackages } from './debian-packages.mjs';
import { root, tryTo } from './steps.mjs';

const cache = join(root, '.cache', 'keyring');
const required = ['gnome-keyring', 'libsecret-tools', 'libsecret-1-0'];
/** Other names in some releases, or installed nearly everywhere. */
const optional = ['libgcr-base-3-1', 'libgck-1-0', 'dbus-daemon', 'dbus-bin'];
const PATIENCE_MS = 15_000;

/**
 * @typedef {object} Keyring
 * @property {Record<string, string>} env what a process needs to reach it
 * @property {() => void} lock
 * @property {() => void} unlock soon
 * @property {() => Promise<void>} stop
 */

// No services: what is installed on the machine is never started on this bus.
const BUS = (/** @type {string} */ folder) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
`;

// A line on stdin starts it anew, which unlocks it. The end of stdin is the cue to end, whoever has ended.
const KEEPER = `
folder=$1
exec 3<&0 >"$folder/log" 2>&1
start() {
  printf weir | gnome-keyring-daemon --foreground --unlock --components=secrets 3<&- &
  keyring=$!
}
trap '' INT HUP
dbus-daemon --nofork --config-file="$folder/bus.conf" 3<&- &
bus=$!
while kill -0 "$bus" && ! test -S "$folder/bus"; do sleep 0.1; done
start
while read -r line <&3; do
  kill "$keyring"
  wait "$keyring"
  start
done
kill "$keyring" "$bus"
wait
rm -rf "$folder"
`;

/** Why none can be had here; undefined where one can be tried. */
export function whyNoKeyring() {
  if (process.platform !== 'linux') return 'keyring: only on Linux';
  if (!existsSync('/usr/bin/apt-get') && !existsSync(cache)) return "keyring: needs Debian's packages";
  return undefined;
}

/**
 * Starts one, unlocked and empty; rejects where that cannot be done here.
 * @returns {Promise<Keyring>}
 */
export async function startKeyring() {
  const unpacked = unpackPackages(cache, { required, optional });
  const folder = mkdtempSync(join(tmpdir(), 'weir-keyring-'));
  writeFileSync(join(folder, 'bus.conf'), BUS(folder));
  const env = {
    ...packageEnvironment(unpacked),
    HOME: folder,
    XDG_RUNTIME_DIR: folder,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/bus`,
  };
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'weir-keyring', folder], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  const stop = async () => {
    keeper.stdin.end();
    await ended;
  };
  if (await answers(env)) return { env, lock: () => lock(env), unlock: () => keeper.stdin.write('\n'), stop };
  await stop();
  throw new Error('gnome-keyring-daemon does not start here');
}

/** @param {Record<string, string>} env */
async function answers(env) {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    if (tryTo(() => run(env, 'secret-tool', ['search', 'service', 'nobody']))) return true;
    await delay(100);
  }
  return false;
}

/** @param {Record<string, string>} env */
function lock(env) {
  const service = ['--dest=org.freedesktop.secrets', '/org/freedesktop/secrets'];
  const collection = 'array:objpath:/org/freedesktop/secrets/collection/login';
  const method = 'org.freedesktop.Secret.Service.Lock';
  run(env, 'dbus-send', ['--session', '--print-reply', ...service, method, collection]);
}

/**
 * @param {Record<string, string>} env
 * @param {string} command
 * @param {string[]} args
 */
function run(env, command, args) {
  execFileSync(command, args, { env, stdio: 'ignore', timeout: 5000 });
}
