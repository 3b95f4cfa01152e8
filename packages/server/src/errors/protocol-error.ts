import { ProtocolError } from '@modelcontextprotocol/server';
import { isError, readMember } from './thrown.ts';

/** Names of the class in this SDK and in its first major version, from which an older library may throw. */
const NAMES: readonly unknown[] = ['ProtocolError', 'McpError'];

/** Returns true for an error that the client gets as a JSON-RPC error, also for one of another copy of the SDK. */
export function isProtocolError(error: unknown): error is Error & { readonly code: number } {
  try {
    if (ProtocolError.isInstance(error)) return true;
  } catch {
    return false;
  }
  // By the code alone an error of some other JSON-RPC service would pass, with whatever it has in its message.
  return (
    isError(error) && NAMES.includes(readMember(error, 'name')) && Number.isInteger(readMember(error, 'code'))
  );
}
