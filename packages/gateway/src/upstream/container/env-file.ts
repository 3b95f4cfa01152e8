import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError } from './engine.ts';

/** Variables of a container, in a file without a name or in the environment of the command. */
export interface VariableHandover {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: number | undefined;
  close(): void;
}

/** The format of the file has no way to write these, nor lines this long. */
const LONGEST_LINE = 60_000;

/**
 * Hands variables over without a value in any argument, because every user of the machine could read that.
 * The command itself would obey some of them (PATH, DOCKER_HOST, a proxy): hence the file.
 */
export function handOver(
  variables: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): VariableHandover {
  const all = Object.entries(variables);
  for (const [name] of all) refuseOddName(name);
  const isPlain = ([, value]: readonly [string, string]): boolean =>
    !/[\n\r]/.test(value) && value.length < LONGEST_LINE;
  const plain = all.filter(isPlain);
  const rest = all.filter((entry) => !isPlain(entry));
  for (const [name] of rest)
    if (name in own || name.startsWith('DOCKER_')) throw new EngineError(tooLong(name));
  const stdin =
    plain.length === 0 ? undefined : nameless(plain.map(([name, value]) => `${name}=${value}\n`).join(''));
  return {
    args: [
      ...(stdin === undefined ? [] : ['--env-file=/dev/stdin']),
      ...rest.map(([name]) => `--env=${name}`),
    ],
    env: Object.fromEntries(rest),
    stdin,
    close: () => stdin !== undefined && closeSync(stdin),
  };
}

function refuseOddName(name: string): void {
  if (!/^[^\s=#][^\s=]*$/.test(name))
    throw new EngineError(
      `${JSON.stringify(name)} in its "env" is not a valid name of a variable; correct it`,
    );
}

function tooLong(name: string): string {
  return `the value of "${name}" in its "env" has several lines or is too long for a variable of that name`;
}

/** A file that is open and has no name any more: whatever happens to us, it is gone. */
function nameless(text: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'weir-'));
  try {
    const file = openSync(join(folder, 'variables'), 'wx+', 0o600);
    // Written at a position, so that the command reads the file from its beginning.
    writeSync(file, Buffer.from(text), 0, undefined, 0);
    return file;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
