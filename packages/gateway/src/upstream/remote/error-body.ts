import { RpcError, RpcErrorCode } from '../../errors.ts';
import { errorLine } from '../../wire/answer.ts';
import { readMembers, valueText } from '../../wire/json/members.ts';
import { skipSpace } from '../../wire/json/scan.ts';
import { lineBytes } from '../../wire/json/splice.ts';
import { readMessage, type Message, type Unusable } from '../../wire/message.ts';

/** A refusal is short. */
export const LONGEST_REFUSAL: number = 1024 * 1024;

/** Reads the message in a body; an error without an id of its own is taken for the answer to `id`. */
export function readAnswer(body: Buffer, id: number): Message | Unusable {
  return asAnswer(readMessage(body), id);
}

/** The same for a body that has been read. */
export function asAnswer(message: Message | Unusable, id: number): Message | Unusable {
  return message.kind === 'unusable' ? (namelessError(message, id) ?? message) : message;
}

/** Whether the error in a body says whose it is. */
export function isNameless(body: Buffer): boolean {
  return readMessage(body).kind === 'unusable';
}

/** A server that cannot tell which request it refuses leaves the id out or writes null; here it is known. */
function namelessError({ reason, bytes }: Unusable, id: number): Message | undefined {
  const members = reason === 'not-a-message' ? readMembers(bytes, skipSpace(bytes, 0)) : undefined;
  const error = members && valueText(members, 'error');
  const nameless = members && [undefined, 'null'].includes(valueText(members, 'id'));
  if (error === undefined || !nameless) return undefined;
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}`, 'latin1'));
  return message.kind === 'unusable' ? undefined : message;
}

/** The answer of a server that does not know a method, where it said so in HTTP alone. */
export function unknownMethod(id: number, status: number): Message {
  const error = new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `HTTP ${status}`);
  return readMessage(lineBytes(errorLine(String(id), error))) as Message;
}
