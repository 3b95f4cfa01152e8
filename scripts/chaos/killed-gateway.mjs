// @ts-check
import { randomUUID } from 'node:crypto';
import { after, finding, kill, processesMarked, secondsUntil } from './common.mjs';
import { fixture, start } from './subjects.mjs';

const LIMIT_S = 5;

/** @type {import('../chaos.mjs').Fault} */
export const killedGateway = {
  title:
    'The gateway is killed (SIGKILL); of its servers one ignores SIGTERM, one has a child in a session of its own',
  subjects: ['weir', 'weir serve', 'mcp-hub', 'mcp-proxy'],
  async run(name, { gateway }) {
    const mark = randomUUID();
    const servers = {
      obedient: fixture('echo', [], mark),
      stubborn: fixture('ignores-sigterm', [], mark),
      parent: fixture('grandchild', ['--own-session'], mark),
    };
    // One that serves a single server is started for each.
    const each =
      name === 'mcp-proxy' ? Object.entries(servers).map(([key, one]) => ({ [key]: one })) : [servers];
    const subjects = await Promise.all(each.map((some) => start(name, some, { gateway, mark })));
    const before = processesMarked(mark).length;
    subjects.forEach((subject) => subject.kill());
    const clean = await secondsUntil(LIMIT_S, () => processesMarked(mark).length === 0);
    const left = processesMarked(mark);
    left.forEach((pid) => kill(pid));
    await Promise.all(subjects.map((subject) => subject.end()));
    return [
      finding(
        `${LIMIT_S} s later no process is left`,
        clean !== undefined,
        left.length === 0
          ? `${before} processes, none left ${after(clean)}`
          : `${left.length} of ${before} left`,
      ),
    ];
  },
};
