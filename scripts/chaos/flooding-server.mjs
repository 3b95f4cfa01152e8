// @ts-check
import { LONGEST_S } from './clients.mjs';
import { finding, highestMb, residentMb } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const LINE_MB = 200;
const GROWTH_MB = 192;

/** @type {import('../chaos.mjs').Fault} */
export const floodingServer = {
  title: `A server writes nonsense to stdout for 3 s, as fast as it is read, then one line of ${LINE_MB} MiB`,
  subjects: ['weir', 'weir serve', 'mcp-hub', 'mcp-proxy'],
  async run(name, { gateway }) {
    const isAlone = name === 'mcp-proxy';
    const servers = { loud: fixture('flood'), ...(!isAlone && { s0: fixture('crash') }) };
    const subject = await start(name, servers, { gateway });
    const before = residentMb(subject.pid);
    const flooding = flood();
    async function flood() {
      const loud = subject.tool('loud', 'flood');
      const nonsense = await subject.client.call(loud, { ms: 3000 });
      const line = await subject.client.call(loud, { mb: LINE_MB });
      return {
        nonsense,
        line,
        echo: await subject.client.call(subject.tool('loud', 'echo'), { text: 'still here' }),
      };
    }
    const next = () => ({ key: 's0', name: subject.tool('s0', 'slow'), args: { ms: 10 } });
    const calling = isAlone ? undefined : callDuring(subject.client, flooding, { inFlight: 2, next });
    const highest = await highestMb(subject.pid, flooding);
    const { nonsense, line, echo } = await flooding;
    const seen = await calling;
    const isRunning = subject.isRunning;
    await subject.end();
    return [
      finding(
        'its own calls are still answered',
        [nonsense, line, echo].every(({ text }) => text !== undefined),
        isRunning
          ? `nonsense: ${told(nonsense)}; the line: ${told(line)}; a call after that: ${told(echo)}`
          : 'the gateway has ended',
      ),
      ...(seen === undefined ? [] : [unnoticed(seen)]),
      finding(
        `memory grows by less than ${GROWTH_MB} MB`,
        highest - before < GROWTH_MB,
        `${before.toFixed(0)} MB before, at most ${highest.toFixed(0)} MB`,
      ),
    ];
  },
};

/** @param {import('./clients.mjs').Answer} answer */
function told({ text, error, isAnswered }) {
  if (text !== undefined) return /^\d+$/.test(text) ? `answered after ${text} MB` : 'answered';
  return isAnswered ? `error "${error}"` : `no answer within ${LONGEST_S} s`;
}
