import { fileURLToPath } from 'node:url';
import type { RpcError } from '../../errors.ts';
import { lackingFor } from '../../protocol/capabilities.ts';
import {
  alsoAsking,
  canEndInRound,
  isRetry,
  readRetry,
  roundResult,
  withoutAnswer,
  type Question,
} from '../../protocol/input-required.ts';
import { isTooLarge, readResult } from '../../upstream/negotiate.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { requestLine, resultLine } from '../../wire/answer.ts';
import { valueText } from '../../wire/json/members.ts';
import { encode, type Edit } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import { capabilitiesOf, type ClientRequest, type Caller } from '../client-request.ts';
import { HopAround } from '../hop-around.ts';
import type { Hop, InFlightRequest, TAKEN } from '../relay.ts';

const METHOD = 'roots/list';
/** As a question in a round. */
const QUESTION: Question = { key: encode('weir/roots'), method: METHOD, params: '{}' };

/** The folder in which a client works: its first root on this machine, if it has one and can be asked. */
export async function folderOf({ era, envelope, client, origin }: Caller): Promise<string | undefined> {
  if (era === 'modern') return client.folder ?? undefined;
  if (lackingFor(METHOD, '{}', envelope.capabilities) !== undefined) return undefined;
  const recipient = client.recipient(origin);
  const answer = await new Promise<Message>((resolve, reject) => {
    const id = recipient.onResponse({ answered: resolve, progressed() {}, lost: reject });
    recipient.send(requestLine(id, METHOD, '{}'));
  });
  return answer.isError || isTooLarge(answer) ? undefined : firstFolder(readResult(answer)['roots']);
}

/**
 * A modern client can be asked only in answer to a call: the first one for a server that works in the client's folder
 * is answered with the question, and each of them where many programs share a token. Gives back what there is to go on
 * with, once that is known.
 */
export function withFolder(asked: ClientRequest, { era }: Upstream): ClientRequest | undefined {
  const { caller, message } = asked;
  const { client, origin } = caller;
  if (caller.era === 'legacy' || !canEndInRound(message.method)) return asked;
  const answer = readRetry(message).responses.get(QUESTION.key);
  if (answer !== undefined) {
    const folder = folderIn(answer);
    if (!client.isSharedToken) client.folder = folder ?? null;
    return { ...asked, folder, message: withoutAnswer(message, QUESTION) };
  }
  // A call that is kept has its folder, and waits for these answers.
  const isKept = era === 'legacy' && isRetry(message);
  const isKnown = isKept || client.folder !== undefined || 'folder' in asked;
  if (isKnown || lackingFor(METHOD, '{}', capabilitiesOf(caller, message)) !== undefined) return asked;
  const state = message.params && valueText(message.params, 'requestState');
  origin.answer(resultLine(message.id, roundResult({ questions: [QUESTION], state })));
  return undefined;
}

/** The hop of a call that has said where its client works: where a modern server asks back, it is to say so again. */
export function withFolderAgain(hop: Hop, asked: ClientRequest, { era }: Upstream): Hop {
  const isSaid = 'folder' in asked && asked.caller.client.isSharedToken;
  return isSaid && era === 'modern' ? new FolderHop(hop) : hop;
}

class FolderHop extends HopAround {
  override adapt(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    const edits = super.adapt(answer, call) ?? [];
    return Array.isArray(edits) ? [...edits, ...alsoAsking(answer, QUESTION)] : edits;
  }
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
