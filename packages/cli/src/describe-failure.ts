import { ChildServerError, ConfigError, describeConfigError, RpcError } from '@weir/gateway';
import { AddressError } from './address-error.ts';
import { UsageError } from './arguments.ts';
import { ControlFailure } from './control-failure.ts';
import { EngineFailure } from './engine-failure.ts';
import { usage } from './help.ts';
import { LockFailure } from './lock-failure.ts';
import { PROGRAM } from './program.ts';

/** What their messages say is all that there is to say. */
const COMPLETE = [AddressError, ControlFailure, EngineFailure, LockFailure];

/** The last word on stderr: what is wrong, where, and what to do about it. */
export function describeFailure(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${error.usage ?? usage(PROGRAM)[error.of]}`;
  if (COMPLETE.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof ConfigError) return describeConfigError(error);
  if (error instanceof ChildServerError) return `${error.message}\n${afterwards(error)}`;
  if (error instanceof RpcError) return error.message;
  if (isLostFolder(error)) return 'The folder that Weir was started in is gone: change to another one.';
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Weir has failed through a mistake of its own. Please report it with these lines:\n${details}`;
}

/** A relative path means nothing there. */
function isLostFolder(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

function afterwards({ serverKey }: ChildServerError): string {
  return `All servers have been stopped. Mend '${serverKey}', or start without it by --keep-going.`;
}
