import { ChildServerError, ConfigError, describeConfigError } from '@weir/gateway';
import { AddressError } from './address-error.ts';
import { UsageError } from './arguments.ts';
import { USAGE } from './help.ts';

/** The last word on stderr: what is wrong, where, and what to do about it. */
export function describeFailure(error: unknown, usage: string = USAGE): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  if (error instanceof AddressError) return error.message;
  if (error instanceof ConfigError) return describeConfigError(error);
  if (error instanceof ChildServerError) return `${error.message}\n${afterwards(error)}`;
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Weir has failed through a mistake of its own. Please report it with these lines:\n${details}`;
}

function afterwards({ serverKey }: ChildServerError): string {
  return `All servers have been stopped. Mend '${serverKey}', or start without it by --keep-going.`;
}
