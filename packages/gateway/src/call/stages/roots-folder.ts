import { fileURLToPath } from 'node:url';
import type { RpcError } from '../../errors.ts';
import { missingCapability } from '../../protocol/capabilities.ts';
import {
  addQuestion,
  isRetry,
  readRetry,
  roundResult,
  withoutAnswer,
  type Question,
} from '../../protocol/input-required.ts';
import { Method, mayRequireInput } from '../../protocol/methods.ts';
import { isTooLarge, readResult } from '../../upstream/start/negotiate.ts';
import { requestLine, resultLine } from '../../wire/answer.ts';
import { valueText } from '../../wire/json/members.ts';
import { encode, type Edit } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Stage } from '../call.ts';
import { capabilitiesOf, type Caller } from '../client-request.ts';
import type { InFlightRequest, TAKEN, Translation } from '../relay.ts';

/** As a question in a round. */
const QUESTION: Question = { key: encode('weir/roots'), method: Method.LIST_ROOTS, params: '{}' };

/** The folder in which a client works: its first root on this machine, if it has one and can be asked. */
export async function folderOf({ era, envelope, client, origin }: Caller): Promise<string | undefined> {
  if (era === 'modern') return client.folder ?? undefined;
  if (missingCapability(Method.LIST_ROOTS, '{}', envelope.capabilities) !== undefined) return undefined;
  const recipient = client.recipient(origin);
  const answer = await new Promise<Message>((resolve, reject) => {
    const id = recipient.onResponse({ answered: resolve, progressed() {}, lost: reject });
    recipient.send(requestLine(id, Method.LIST_ROOTS, '{}'));
  });
  return answer.isError || isTooLarge(answer) ? undefined : firstFolder(readResult(answer)['roots']);
}

/**
 * Asks a modern client for its folder before the first call to a server that works in the client's folder; before each
 * where several programs share a token. Such a client can be asked only by answering its call with the question.
 */
export const rootsFolder: Stage = {
  appliesTo: ({ caller, message, addressing }, { upstream }) =>
    upstream.cwdFromRoots &&
    caller.era === 'modern' &&
    addressing !== undefined &&
    mayRequireInput(message.method),
  run(request, target, { next }) {
    const { caller, message } = request;
    const { client, origin } = caller;
    const answer = readRetry(message).responses.get(QUESTION.key);
    if (answer !== undefined) {
      request.folder = folderIn(answer);
      request.hasFolder = true;
      request.message = withoutAnswer(message, QUESTION);
      if (!client.isSharedToken) client.folder = request.folder ?? null;
      return next(target);
    }
    // A suspended call has its folder, and waits for these answers.
    const isSuspended = target.upstream.era === 'legacy' && isRetry(message);
    const isKnown = isSuspended || client.folder !== undefined || request.hasFolder;
    if (isKnown || missingCapability(Method.LIST_ROOTS, '{}', capabilitiesOf(caller, message)) !== undefined)
      return next(target);
    const state = message.params && valueText(message.params, 'requestState');
    origin.answer(resultLine(message.id, roundResult({ questions: [QUESTION], state })));
  },
};

/** Asks for the folder again with each question of a modern server, where the next call cannot be told from another program's. */
export class FolderTranslation implements Translation {
  readonly #inner: Translation;

  constructor(inner: Translation) {
    this.#inner = inner;
  }

  request(message: Message, token: number | undefined): Edit[] {
    return this.#inner.request(message, token);
  }

  response(response: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    const edits = this.#inner.response?.(response, call) ?? [];
    return Array.isArray(edits) ? [...edits, ...addQuestion(response, QUESTION)] : edits;
  }

  stop(): void {
    this.#inner.stop?.();
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

/** Returns the path of a file URI; undefined for any other URI. */
function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
