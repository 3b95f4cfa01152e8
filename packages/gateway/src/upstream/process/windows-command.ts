import { win32 } from 'node:path';
import { SpawnError, SpawnFailure, type Attempt } from './spawn-error.ts';

/** Program and arguments as Node gets them. `verbatim`: the arguments are quoted already. */
export interface Startable {
  file: string;
  args: readonly string[];
  verbatim: boolean;
}

const EXTENSIONS = ['.com', '.exe', '.bat', '.cmd'];

/**
 * Finds what a command means on Windows. A batch file runs only inside cmd.exe, so each of its arguments is quoted,
 * and one that could break out of its quotes is refused. Unproven: never run on a real Windows.
 */
export function windowsCommand(
  attempt: Attempt & { args: readonly string[] },
  isFile: (path: string) => boolean,
): Startable {
  const file = findProgram(attempt, isFile);
  if (file === undefined) return { file: attempt.command, args: attempt.args, verbatim: false };
  if (!/\.(?:bat|cmd)$/i.test(file)) return { file, args: attempt.args, verbatim: false };
  const line = [file, ...attempt.args].map((text, index) => quoted(text, { file, index })).join(' ');
  return {
    file: systemTool('cmd.exe', attempt.env),
    args: ['/d', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** A tool of the system by its full path: nothing that lies in the way can stand in for it. */
export function systemTool(name: string, env: Attempt['env']): string {
  return win32.join(variable(env, 'SystemRoot') ?? 'C:\\Windows', 'System32', name);
}

function findProgram(
  { command, env, cwd = '.' }: Attempt,
  isFile: (path: string) => boolean,
): string | undefined {
  const hasExtension = EXTENSIONS.includes(win32.extname(command).toLowerCase());
  const names = [...(hasExtension ? [command] : []), ...EXTENSIONS.map((extension) => command + extension)];
  // The working directory is searched only for a path, never for a bare name.
  const folders = /[\\/:]/.test(command) ? [cwd] : (variable(env, 'Path') ?? '').split(';').filter(Boolean);
  return folders.flatMap((folder) => names.map((name) => win32.resolve(folder, name))).find(isFile);
}

function variable(env: Attempt['env'], name: string): string | undefined {
  const key = Object.keys(env).find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : env[key];
}

/** Between quotes cmd.exe heeds only the quote, the percent sign and the end of the line. */
function quoted(text: string, { file, index }: { file: string; index: number }): string {
  if (/["%\p{Cc}]/u.test(text)) throw unsafe(file, index);
  // The program behind the batch file would take \" for a quote of the text.
  return `"${text.replace(/\\+$/, '$&$&')}"`;
}

function unsafe(file: string, index: number): SpawnError {
  const what = index === 0 ? 'its path' : `argument ${index}`;
  const message =
    `${what} cannot be passed safely to the batch file "${win32.basename(file)}", because it holds a quote, a percent ` +
    `sign or a control character; start the program behind the batch file instead (such as node with a script)`;
  return new SpawnError(SpawnFailure.UNSAFE_ARGUMENT, message);
}
