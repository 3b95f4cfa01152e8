import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { describeFailure } from './describe-failure.ts';
import { collectGarbage, showContainers } from './docker.ts';
import { EngineFailure } from './engine-failure.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-docker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const noWindows = process.platform === 'win32' ? 'needs a shell script as a command' : undefined;

describe('weir docker', () => {
  verifies(['AGG-CLI-1', 'MANAGED-3'], 'understands ps and gc, with and without --json', () => {
    expect(parseArguments(['docker', 'ps'], {})).toEqual({
      run: 'docker',
      args: { action: 'ps', json: false },
    });
    expect(parseArguments(['docker', '--json', 'gc'], {})).toEqual({
      run: 'docker',
      args: { action: 'gc', json: true },
    });
    expect(parseArguments(['docker', '--help'], {})).toEqual({ run: 'help', of: 'docker' });
    expect(parseArguments(['docker', '--version'], {})).toEqual({ run: 'version' });
  });

  for (const [argv, why] of [
    [[], 'weir docker needs ps or gc'],
    [['prune'], 'Unknown: weir docker prune'],
    [['ps', 'all'], 'Unexpected argument: all'],
  ] as const)
    verifies(['AGG-CLI-1', 'MANAGED-3'], `refuses ${JSON.stringify(argv)} and says how it is used`, () => {
      const error = refusal(['docker', ...argv]);
      expect(error).toBeInstanceOf(UsageError);
      expect(describeFailure(error)).toBe(
        `${why}\n\nUsage: weir docker ps|gc [--json]\nTry 'weir docker --help'.`,
      );
    });

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'prints a table in which no label can play with the terminal',
    async () => {
      const labels = { 'weir.owner.pid': '7', 'weir.server': 'files\u001b[31m' };
      const { env } = engine({ listed: [{ Id: 'a', Name: '/one', labels }] });
      expect(await printed((output) => showContainers({ env, output, json: false }))).toBe(
        'CONTAINER  SERVER      IMAGE  STATUS   GATEWAY\none        files?[31m  x      running  elsewhere\n',
      );
    },
  );

  verifies.skipIf(noWindows)('MANAGED-3', 'says that there is nothing', async () => {
    const { env } = engine({ listed: [] });
    expect(await printed((output) => showContainers({ env, output, json: false }))).toBe(
      'No container of any gateway.\n',
    );
    expect(await printed((output) => collectGarbage({ env, output, json: false }))).toBe(
      'Nothing to remove.\n',
    );
    expect(await printed((output) => showContainers({ env, output, json: true }))).toBe('[]\n');
  });

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'fails in one sentence where the engine cannot be asked',
    async () => {
      const { env } = engine({ error: 'Cannot connect to the Docker daemon at unix:///x.' });
      const failure = await showContainers({ env, output: new PassThrough(), json: false }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(EngineFailure);
      expect(describeFailure(failure)).toMatch(
        /^Containers cannot be looked for: the container engine cannot be reached/,
      );
    },
  );
});

function refusal(argv: readonly string[]): unknown {
  try {
    return parseArguments(argv, {});
  } catch (error) {
    return error;
  }
}

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
