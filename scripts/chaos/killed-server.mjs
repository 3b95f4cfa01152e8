// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { after, finding, kill, secondsUntil } from './common.mjs';
import { allAnswered, callDuring } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const BACK_S = 10;

/** @type {import('../chaos.mjs').Fault} */
export const killedServer = {
  title: 'One server, killed once, with 8 calls in flight',
  subjects: ['weir', 'weir serve', 'mcp-hub', 'mcp-proxy'],
  async run(name, { gateway }) {
    const subject = await start(name, { s0: fixture('crash') }, { gateway });
    const pidTool = subject.tool('s0', 'pid');
    const first = await subject.pidOf('s0');
    const dying = delay(500).then(() => kill(first));
    const next = () => ({ key: 's0', name: subject.tool('s0', 'slow'), args: { ms: 1000 } });
    const seen = await callDuring(subject.client, dying, { inFlight: 8, next });
    const isBack = async () => Number((await subject.client.call(pidTool)).text ?? first) !== first;
    const back = await secondsUntil(BACK_S, isBack);
    const isRunning = subject.isRunning;
    await subject.end();
    return [
      allAnswered(seen),
      finding(
        `it answers calls again within ${BACK_S} s, without help`,
        back !== undefined,
        back === undefined && !isRunning ? 'the gateway has ended' : after(back),
      ),
    ];
  },
};
