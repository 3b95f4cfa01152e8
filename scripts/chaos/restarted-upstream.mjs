// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/peers.mjs';
import { LONGEST_S } from './clients.mjs';
import { after, finding, secondsUntil } from './common.mjs';
import { allAnswered, callDuring } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const AWAY_S = 3;
const FOUND_S = 15;

/** @type {import('../chaos.mjs').Fault} */
export const restartedUpstream = {
  title: `A server on HTTP, with sessions, is killed, and started again at the same address ${AWAY_S} s later`,
  subjects: ['weir', 'weir serve', 'mcp-hub'],
  except: { 'mcp-proxy': 'its server is on stdio' },
  async run(name, { gateway }) {
    const port = await freePort();
    let upstream = await listen(port);
    const subject = await start(name, { far: { url: `http://127.0.0.1:${port}/mcp` } }, { gateway });
    const next = () => ({ key: 'far', name: subject.tool('far', 'echo'), args: { a: 1 } });
    const endless = Array.from({ length: 4 }, () =>
      subject.client.call(subject.tool('far', 'wait'), { key: 'k' }),
    );
    const away = restart();
    async function restart() {
      await delay(1000);
      upstream.kill('SIGKILL');
      await delay(AWAY_S * 1000);
      upstream = await listen(port);
    }
    const seen = await callDuring(subject.client, away, { inFlight: 4, next });
    const told = await Promise.all(endless);
    const isFound = async () => (await subject.client.call(next().name, next().args)).text !== undefined;
    const found = await secondsUntil(FOUND_S, isFound);
    const later = await callDuring(subject.client, delay(1000), { inFlight: 4, next });
    await subject.end();
    upstream.kill('SIGKILL');
    const silent = told.filter(({ isAnswered }) => !isAnswered).length;
    return [
      allAnswered(seen),
      finding(
        `calls in flight end within ${LONGEST_S} s`,
        silent === 0,
        `${told.length - silent} of ${told.length} were`,
      ),
      finding(
        `the gateway reconnects to it within ${FOUND_S} s, on the same connection of the client`,
        found !== undefined && later.errors.length === 0 && later.lost === 0,
        found === undefined
          ? `not within ${FOUND_S} s`
          : `${after(found)}; ${later.count} calls after that, ${later.errors.length + later.lost} failed`,
      ),
    ];
  },
};

/** @param {number} port */
async function listen(port) {
  const { command, args } = fixture('matrix', ['legacy', 'http']);
  const env = { PATH: process.env['PATH'] ?? '', PORT: String(port) };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}
