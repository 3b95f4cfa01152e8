// @ts-check
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { after, finding, secondsUntil } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const LIMIT_S = 10;

/** @type {import('../chaos.mjs').Fault} */
export const reload = {
  title: 'The config file changes: a server is added, changed and removed, and once the file is broken',
  subjects: ['weir', 'weir serve', 'mcp-hub'],
  except: { 'mcp-proxy': 'it has no config file' },
  async run(name, { gateway }) {
    const s0 = fixture('crash');
    // What the other does only when told to.
    const args = name === 'mcp-hub' ? ['--watch'] : [];
    const subject = await start(name, { s0 }, { gateway, args });
    const rewrite = (/** @type {object} */ servers) =>
      writeFileSync(subject.config, JSON.stringify({ mcpServers: servers }));
    const has = (/** @type {string} */ tool) => async () => (await subject.client.tools()).includes(tool);
    /** @type {Record<string, number | undefined>} */
    const took = {};
    const steps = async () => {
      // A watcher may need a moment before it sees anything.
      await delay(1000);
      rewrite({ s0, extra: fixture('echo') });
      took['added'] = await secondsUntil(LIMIT_S, has(subject.tool('extra', 'echo')));
      rewrite({ s0, extra: fixture('crash') });
      took['changed'] = await secondsUntil(LIMIT_S, has(subject.tool('extra', 'slow')));
      writeFileSync(subject.config, '{ "mcpServers": { "s0": ');
      await delay(2000);
      took['unharmed by a broken file'] = (await has(subject.tool('extra', 'slow'))()) ? 0 : undefined;
      rewrite({ s0 });
      const isGone = async () => !(await has(subject.tool('extra', 'slow'))());
      took['removed'] = await secondsUntil(LIMIT_S, isGone);
    };
    const pids = async () => (await subject.client.call(subject.tool('s0', 'pid'))).text;
    const before = await pids();
    const next = () => ({ key: 's0', name: subject.tool('s0', 'slow'), args: { ms: 300 } });
    const seen = await callDuring(subject.client, steps(), { inFlight: 8, next });
    const isSame = (await pids()) === before;
    await subject.end();
    return [
      ...Object.entries(took).map(([step, seconds]) =>
        finding(
          step === 'unharmed by a broken file'
            ? 'a broken file changes nothing'
            : `a server is ${step} within ${LIMIT_S} s`,
          seconds !== undefined,
          step === 'unharmed by a broken file'
            ? seconds === 0
              ? 'nothing'
              : 'a server was lost'
            : after(seconds),
        ),
      ),
      unnoticed(seen, 'calls to the server that did not change are not affected'),
      finding('the gateway does not restart that server', isSame, isSame ? 'it was not' : 'it was'),
    ];
  },
};
