// @ts-check
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { finding } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const PAUSES_S = [1, 5, 15];
/** All attempts and some more; in a long run more than twice that. */
const WATCHED_S = { least: 30, most: 60 };
/** An attempt may be two starts: a server that dies of the first word is spoken to in the old way. */
const SAME_ATTEMPT_S = 0.8;

/** @type {import('../chaos.mjs').Fault} */
export const failingServer = {
  title: `A server exits at every start; it is watched for up to ${WATCHED_S.most} s`,
  subjects: ['weir', 'weir serve', 'mcp-hub'],
  except: { 'mcp-proxy': 'it has one server, and ends where that does not start' },
  async run(name, { gateway, seconds }) {
    const folder = mkdtempSync(join(tmpdir(), 'weir-starts-'));
    const file = join(folder, 'starts');
    const failing = { command: 'sh', args: ['-c', 'date +%s.%N >>"$1"; exit 3', 'sh', file] };
    const servers = { failing, s0: fixture('crash') };
    const args = name === 'weir' ? ['--keep-going'] : [];
    const subject = await start(name, servers, { gateway, args, expected: ['s0'] });
    const next = () => ({ key: 's0', name: subject.tool('s0', 'slow'), args: { ms: 50 } });
    const watched = delay(Math.min(Math.max(seconds, WATCHED_S.least), WATCHED_S.most) * 1000);
    const seen = await callDuring(subject.client, watched, { inFlight: 4, next });
    const isDisabled = subject.log.includes("Server 'failing' is disabled:");
    await subject.end();
    const starts = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
    const pauses = pausesBetween(starts);
    rmSync(folder, { recursive: true, force: true });
    return [
      finding(
        'the gateway restarts it after 1, 5 and 15 s, then disables it',
        isDisabled && pauses.length === PAUSES_S.length && pauses.every(isAsPromised),
        pauses.length === 0
          ? 'started once, not tried again'
          : `${starts.length} starts, pauses of ${pauses.map((pause) => pause.toFixed(1)).join(', ')} s${isDisabled ? ', then disabled' : ''}`,
      ),
      unnoticed(seen),
    ];
  },
};

/** @param {readonly number[]} starts */
function pausesBetween(starts) {
  return starts
    .slice(1)
    .map((at, index) => at - (starts[index] ?? 0))
    .filter((pause) => pause > SAME_ATTEMPT_S);
}

/**
 * Never sooner; later by what a busy machine takes to start it.
 * @param {number} pause
 * @param {number} index
 */
function isAsPromised(pause, index) {
  const promised = PAUSES_S[index] ?? 0;
  return pause > promised - 0.2 && pause < promised + 2;
}
