// @ts-check
import { after, finding, kill, secondsUntil } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

/** A server is asked every 30 s, has 5 s to answer, up to 4 s to end and is started 1 s later. */
const LIMIT_S = 45;

/** @type {import('../chaos.mjs').Fault} */
export const hungServer = {
  title: 'A server hangs (SIGSTOP) while others are called',
  subjects: ['weir', 'weir serve', 'mcp-hub', 'mcp-proxy'],
  async run(name, { gateway }) {
    const isAlone = name === 'mcp-proxy';
    const servers = { s0: fixture('crash'), ...(!isAlone && { s1: fixture('crash') }) };
    const subject = await start(name, servers, { gateway });
    const pid = await subject.pidOf('s0');
    kill(pid, 'SIGSTOP');
    // Found out by whoever asks; a call that waits for it would be another matter.
    const restarted = secondsUntil(LIMIT_S, () => subject.isRunning && !isThere(pid));
    const next = () => ({ key: 's1', name: subject.tool('s1', 'slow'), args: { ms: 20 } });
    const seen = isAlone ? undefined : await callDuring(subject.client, restarted, { inFlight: 4, next });
    const found = await restarted;
    const isBack = async () => (await subject.client.call(subject.tool('s0', 'pid'))).text !== undefined;
    const back = found === undefined ? undefined : await secondsUntil(10, isBack);
    if (found === undefined) kill(pid);
    await subject.end();
    return [
      finding(
        `the gateway detects and stops it within ${LIMIT_S} s`,
        found !== undefined,
        found === undefined ? `not within ${LIMIT_S} s` : after(found),
      ),
      finding(
        'and restarts it',
        back !== undefined,
        back === undefined ? 'it was not' : `${after(back)} more`,
      ),
      ...(seen === undefined ? [] : [unnoticed(seen)]),
    ];
  },
};

/** @param {number} pid */
function isThere(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
