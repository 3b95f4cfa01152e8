import { fileURLToPath } from 'node:url';
import { lackingFor } from '../bridge/capabilities.ts';
import { canEndInRound, firstTryOf, readRetry, roundResult } from '../bridge/rounds.ts';
import { readResult } from '../upstream/handshake.ts';
import { requestLine, resultLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import { encode } from '../wire/splice.ts';
import { capabilitiesOf, type Asked, type Caller } from './caller.ts';

const METHOD = 'roots/list';
/** The question's key in a round of ours, as JSON. */
const KEY = encode('weir/roots');

/** The folder in which a client works: its first root on this machine, if it has one and can be asked. */
export async function folderOf({ era, envelope, client, origin }: Caller): Promise<string | undefined> {
  if (era === 'modern') return client.folder ?? undefined;
  if (lackingFor(METHOD, '{}', envelope.capabilities) !== undefined) return undefined;
  const recipient = client.recipient(origin);
  const answer = await new Promise<Message>((resolve, reject) => {
    const id = recipient.expect({ answered: resolve, progressed() {}, lost: reject });
    recipient.send(requestLine(id, METHOD, '{}'));
  });
  return answer.isError ? undefined : firstFolder(readResult(answer)['roots']);
}

/**
 * A modern client can be asked only in answer to a call: the first one for a server that works in the client's folder
 * is answered with the question, and each of them where many programs share a token. Gives back what there is to go on
 * with, once that is known.
 */
export function withFolder(asked: Asked): Asked | undefined {
  const { caller, message } = asked;
  const { client, origin } = caller;
  if (caller.era === 'legacy' || !canEndInRound(message.method)) return asked;
  const answer = readRetry(message).responses.get(KEY);
  if (answer !== undefined) {
    const folder = folderIn(answer);
    if (!client.isMany) client.folder = folder ?? null;
    return { ...asked, folder, message: firstTryOf(message) };
  }
  const isKnown = client.folder !== undefined;
  if (isKnown || lackingFor(METHOD, '{}', capabilitiesOf(caller, message)) !== undefined) return asked;
  const questions = [{ key: KEY, method: METHOD, params: '{}' }];
  origin.answer(resultLine(message.id, roundResult({ questions, state: undefined })));
  return undefined;
}

function folderIn(answer: string): string | undefined {
  try {
    const { roots } = JSON.parse(Buffer.from(answer, 'latin1').toString('utf8')) as { roots?: unknown };
    return firstFolder(roots);
  } catch {
    return undefined;
  }
}

function firstFolder(roots: unknown): string | undefined {
  if (!Array.isArray(roots)) return undefined;
  for (const root of roots as readonly ({ uri?: unknown } | null)[]) {
    const folder = typeof root?.uri === 'string' ? pathOf(root.uri) : undefined;
    if (folder !== undefined) return folder;
  }
  return undefined;
}

/** Undefined for what is no file of this machine. */
function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
