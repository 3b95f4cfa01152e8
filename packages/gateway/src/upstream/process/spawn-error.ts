// Reached through their parent, the promised functions are loaded when first used: here, when a start has failed.
import { constants, promises } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Why a program could not be started. */
export const SpawnFailure = {
  COMMAND_NOT_FOUND: 'command_not_found',
  NOT_EXECUTABLE: 'not_executable',
  INTERPRETER_NOT_FOUND: 'interpreter_not_found',
  NO_WORKING_DIRECTORY: 'no_working_directory',
  UNSAFE_ARGUMENT: 'unsafe_argument',
  NO_RESOURCES: 'no_resources',
  OTHER: 'other',
} as const;
export type SpawnFailure = (typeof SpawnFailure)[keyof typeof SpawnFailure];

/** A program could not be started. Has no `cause`, because Node's own error carries the arguments, which may be secret. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError';
  readonly failure: SpawnFailure;

  constructor(failure: SpawnFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Program that could not be started. */
export interface Attempt {
  command: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string | undefined;
  /** The working directory is one that a client has named. */
  isClientFolder?: boolean | undefined;
}

/** Says what is wrong and what to do about it. ENOENT alone stands for three different mistakes. */
export async function explainSpawnFailure(error: unknown, attempt: Attempt): Promise<SpawnError> {
  if (error instanceof SpawnError) return error;
  const code = errorCode(error);
  if (code === 'ERR_INVALID_ARG_VALUE') return holdsNul();
  if (Object.hasOwn(RESOURCES, code))
    return new SpawnError(SpawnFailure.NO_RESOURCES, String(RESOURCES[code]));
  const badDirectory = await workingDirectoryMistake(attempt);
  if (badDirectory !== undefined) return new SpawnError(SpawnFailure.NO_WORKING_DIRECTORY, badDirectory);
  if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return commandMistake(attempt);
  return new SpawnError(SpawnFailure.OTHER, `the system refused to start "${attempt.command}" (${code})`);
}

const RESOURCES: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files; raise the limit (ulimit -n) or start fewer servers',
  ENFILE: 'the system has too many open files; close some programs',
  EAGAIN: 'too many processes; raise the limit (ulimit -u) or start fewer servers',
  ENOMEM: 'not enough memory to start another process',
  E2BIG: 'its arguments and environment are together too long for the system; pass them in a file',
};

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function holdsNul(): SpawnError {
  const message = 'its command, arguments, environment or working directory hold a NUL character; remove it';
  return new SpawnError(SpawnFailure.UNSAFE_ARGUMENT, message);
}

async function workingDirectoryMistake({ cwd, isClientFolder }: Attempt): Promise<string | undefined> {
  if (cwd === undefined) return undefined;
  const what = isClientFolder ? "the client's root" : 'working directory';
  const where = isClientFolder ? 'the roots of the client (they must be folders of this machine)' : '"cwd"';
  const found = await promises.stat(cwd).catch(() => undefined);
  if (found === undefined) return `${what} does not exist: "${cwd}"; create it or correct ${where}`;
  if (!found.isDirectory()) return `${what} is not a directory: "${cwd}"; correct ${where}`;
  const mayEnter = await promises.access(cwd, constants.X_OK).then(
    () => true,
    () => false,
  );
  return mayEnter ? undefined : `${what} cannot be entered: "${cwd}"; check its permissions`;
}

async function commandMistake(attempt: Attempt): Promise<SpawnError> {
  const file = await findFile(attempt);
  if (file === undefined) return new SpawnError(SpawnFailure.COMMAND_NOT_FOUND, notFound(attempt.command));
  const mayRun = await promises.access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!mayRun || (await promises.stat(file)).isDirectory()) {
    return new SpawnError(
      SpawnFailure.NOT_EXECUTABLE,
      `not executable: "${file}"; allow it with chmod +x or name a program`,
    );
  }
  const message = `"${file}" exists, but the interpreter in its first line does not; install that or correct the line`;
  return new SpawnError(SpawnFailure.INTERPRETER_NOT_FOUND, message);
}

function notFound(command: string): string {
  if (/\s/u.test(command))
    return `command not found: "${command}"; write its arguments in "args", or check the path`;
  if (isPath(command)) return `command not found: "${command}"; check the path`;
  return `command not found: "${command}"; check the spelling, install it, or give its full path (a host's PATH is often shorter than a shell's)`;
}

async function findFile({ command, env, cwd = '.' }: Attempt): Promise<string | undefined> {
  const folders = isPath(command) ? [''] : (env['PATH'] ?? '').split(delimiter);
  for (const folder of folders) {
    const file = resolve(cwd, folder, command);
    if (
      await promises.stat(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return undefined;
}

function isPath(command: string): boolean {
  return command.includes('/') || command.includes('\\');
}
