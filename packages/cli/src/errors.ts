import { ChildServerError, ConfigError, describeConfigError, RpcError } from '@weir/gateway';

/** A failure whose message is complete: it says what is wrong and what to do. Ends the command with exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** A command line that is wrong. Its message is followed by the usage; ends the command with exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
}

/** Returns the text for stderr: what is wrong, where, and what to do. */
export function describeError(error: unknown): string {
  if (error instanceof CliError || error instanceof RpcError) return error.message;
  if (error instanceof ConfigError) return describeConfigError(error);
  if (error instanceof ChildServerError) return `${error.message}\n${remedyFor(error)}`;
  if (isFolderDeleted(error)) return 'The current folder was deleted: change to another one.';
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Internal error. Please report it with these lines:\n${details}`;
}

function remedyFor({ serverKey }: ChildServerError): string {
  return `All servers were stopped. Fix '${serverKey}', or start without it: --keep-going`;
}

/** Tells the error of a relative path apart: it has no meaning in a deleted folder. */
function isFolderDeleted(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}
