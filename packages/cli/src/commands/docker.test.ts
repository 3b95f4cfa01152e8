import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { parse } from '../args.ts';
import { CliError, describeError, UsageError } from '../errors.ts';
import { docker } from './docker.ts';
import { commandFor } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-docker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const noWindows = process.platform === 'win32' ? 'needs a shell script as a command' : undefined;

describe('weir docker', () => {
  verifies(['AGG-CLI-1', 'MANAGED-3'], 'weir docker accepts ps and gc, with and without --json', () => {
    const read = (...words: string[]): unknown => parse(commandFor('docker'), words);
    expect(read('ps')).toEqual({ values: { argument: 'ps' } });
    expect(read('--json', 'gc')).toEqual({ values: { argument: 'gc', json: true } });
    expect(read('--help')).toEqual({ print: 'help' });
    expect(read('--version')).toEqual({ print: 'version' });
  });

  for (const [words, why] of [
    [[], 'weir docker needs ps or gc'],
    [['prune'], "weir docker takes ps or gc, not 'prune'"],
    [['ps', 'all'], 'Unexpected argument: all'],
  ] as const)
    verifies(
      ['AGG-CLI-1', 'MANAGED-3'],
      `weir docker rejects ${JSON.stringify(words)} and names the mistake`,
      () => {
        expect(() => parse(commandFor('docker'), words)).toThrow(new UsageError(why));
      },
    );

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'weir docker ps prints a table without control characters',
    async () => {
      const labels = { 'weir.owner.pid': '7', 'weir.server': 'files\u001b[31m' };
      const { env } = engine({ listed: [{ Id: 'a', Name: '/one', labels }] });
      expect(await printed((output) => docker({ argument: 'ps' }, { env, output }))).toBe(
        'CONTAINER  SERVER      IMAGE  STATUS   GATEWAY\none        files?[31m  x      running  elsewhere\n',
      );
    },
  );

  verifies.skipIf(noWindows)('MANAGED-3', 'weir docker reports that there are no containers', async () => {
    const { env } = engine({ listed: [] });
    expect(await printed((output) => docker({ argument: 'ps' }, { env, output }))).toBe(
      'No gateway has containers.\n',
    );
    expect(await printed((output) => docker({ argument: 'gc' }, { env, output }))).toBe(
      'Nothing to remove.\n',
    );
    expect(await printed((output) => docker({ argument: 'ps', json: true }, { env, output }))).toBe('[]\n');
  });

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'weir docker fails with one sentence if the engine cannot be reached',
    async () => {
      const { env } = engine({ error: 'Cannot connect to the Docker daemon at unix:///x.' });
      const failure = await docker({ argument: 'ps' }, { env, output: new PassThrough() }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(CliError);
      expect(describeError(failure)).toMatch(
        /^Cannot list containers: the container engine cannot be reached/,
      );
    },
  );
});

async function printed(print: (output: PassThrough) => Promise<void>): Promise<string> {
  const output = new PassThrough();
  await print(output);
  output.end();
  return (await output.toArray()).map(String).join('');
}

interface Listed {
  readonly Id: string;
  readonly Name: string;
  readonly labels: Record<string, string>;
}

/** A command in the place of docker, which has these containers or fails. */
function engine({ listed = [], error }: { listed?: Listed[]; error?: string }): {
  env: Record<string, string>;
} {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const inspected = listed.map(({ Id, Name, labels }) => ({
    Id,
    Name,
    Config: { Image: 'x', Labels: labels },
    State: { Status: 'running' },
  }));
  writeFileSync(join(bin, 'inspected'), JSON.stringify(inspected));
  const ids = listed.map(({ Id }) => Id).join(' ');
  const failing = error === undefined ? '' : `echo '${error}' >&2; exit 1`;
  writeFileSync(
    join(bin, 'docker'),
    `#!/bin/sh\n${failing}\ncase $1 in ps) printf %s '${ids}' ;; inspect) cat '${join(bin, 'inspected')}' ;; esac\n`,
  );
  chmodSync(join(bin, 'docker'), 0o755);
  return { env: { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` } };
}
