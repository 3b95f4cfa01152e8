import { walkArray } from './members.ts';
import { readMessage, type Message, type Unusable } from './message.ts';
import { skipSpace, skipValue } from './scan.ts';

/** The messages in an array, one by one: there may be millions of them. A batch in a batch is no message. */
export function readBatch(bytes: Buffer, visit: (message: Message | Unusable) => void): void {
  walkArray(bytes, skipSpace(bytes, 0), (_, at) => {
    const end = skipValue(bytes, at);
    const message = readMessage(bytes.subarray(at, end));
    visit(message.kind === 'unusable' ? { ...message, reason: 'not-a-message' } : message);
    return end;
  });
}
