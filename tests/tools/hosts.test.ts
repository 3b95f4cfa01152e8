// The machinery of `npm run hosts`, on the clients that install in seconds; the page itself is written by that command.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENTS } from '../../scripts/hosts/clients.mjs';
import { install, lockfile } from '../../scripts/hosts/install.mjs';
import { page, type Findings } from '../../scripts/hosts/page.mjs';
import { openScene } from '../../scripts/hosts/scene.mjs';
import { judge } from '../../scripts/hosts/seen.mjs';
import { SERVER_PACKAGES, SERVERS } from '../../scripts/hosts/servers.mjs';
import { tryServer } from '../../scripts/hosts/try-server.mjs';
import { tryTo } from '../../scripts/steps.mjs';
import { node24, noJudges } from '../judges/judges.ts';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

const findings = JSON.parse(readFileSync(join(root, 'docs/compatibility.json'), 'utf8')) as Findings;

describe('docs/compatibility.md', () => {
  test('docs/compatibility.md shows the findings', () => {
    expect(readFileSync(join(root, 'docs/compatibility.md'), 'utf8')).toBe(page(findings));
  });

  test.each(Object.entries(CLIENTS))(
    'the findings have the client %s in the version of the table',
    (key, client) => {
      const row = findings.clients[key];
      expect(row?.version).toBe(Object.values(client.packages)[0]);
      const tried = new Set([...Object.keys(row?.verdicts ?? {}), ...Object.keys(row?.failures ?? {})]);
      expect([...tried].sort()).toEqual([...client.transports].sort());
    },
  );

  test.each(Object.keys(SERVERS))('the findings have the server %s in the version of the table', (name) => {
    expect(findings.servers[name]?.version).toBe(SERVER_PACKAGES[name]);
  });
});

describe('lockfiles of clients and servers', () => {
  test.each([...Object.keys(CLIENTS), 'servers'])('%s has a lockfile that names no host', (key) => {
    expect(existsSync(lockfile(key))).toBe(true);
    expect(readFileSync(lockfile(key), 'utf8')).not.toMatch(/"resolved"/u);
  });
});

describe('a run of some clients and servers', () => {
  const works = { connects: 'yes', lists: 'yes', calls: 'yes', error: 'yes' };

  for (const [key, transport] of [
    ['sdk-v1', 'stdio'],
    ['ai-sdk', 'http'],
  ] as const)
    verifies.skipIf(reasonAgainst(key))(
      ['AGG-REG-1', 'AGG-CALL-1'],
      `the client ${key} works with the gateway`,
      async () => {
        const folder = install(key, CLIENTS[key]!.packages);
        const scene = await openScene({ transport, folder, node: node24! });
        try {
          expect(judge(await CLIENTS[key]!.run(scene))).toMatchObject(works);
        } finally {
          await scene.close();
        }
      },
    );

  verifies('AGG-CALL-1', 'a server gives the same answers through the gateway as directly', async () => {
    const name = '@modelcontextprotocol/server-everything';
    const { differing, failure, lists } = await tryServer(name, SERVERS[name]!, root);
    expect({ differing, failure }).toEqual({ differing: [], failure: undefined });
    expect(lists.tools).toBeGreaterThan(10);
  });
});

/** Both clients need a later Node than 20, which the judges bring. */
function reasonAgainst(key: string): string | undefined {
  if (noJudges !== undefined) return noJudges;
  return tryTo(() => install(key, CLIENTS[key]!.packages)) ? undefined : 'npm could not install it';
}
