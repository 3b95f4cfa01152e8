import { fileURLToPath } from 'node:url';
import { lackingFor } from '../bridge/capabilities.ts';
import { readResult } from '../upstream/handshake.ts';
import { requestLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import type { Caller } from './caller.ts';

/** The folder in which a client works: its first root on this machine, if it has one and can be asked. */
export async function folderOf({ era, envelope, client, origin }: Caller): Promise<string | undefined> {
  if (era === 'modern' || lackingFor('roots/list', '{}', envelope.capabilities) !== undefined)
    return undefined;
  const recipient = client.recipient(origin);
  const answer = await new Promise<Message>((resolve, reject) => {
    const id = recipient.expect({ answered: resolve, progressed() {}, lost: reject });
    recipient.send(requestLine(id, 'roots/list', '{}'));
  });
  return answer.isError ? undefined : firstFolder(readResult(answer)['roots']);
}

function firstFolder(roots: unknown): string | undefined {
  if (!Array.isArray(roots)) return undefined;
  for (const { uri } of roots as readonly { uri?: unknown }[])
    if (typeof uri === 'string' && uri.startsWith('file:')) return fileURLToPath(uri);
  return undefined;
}
