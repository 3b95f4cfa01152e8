// A modern client that is led through rounds: what it was asked, and the same call again with its answers.
import type { Json, Received } from './harness.ts';
import type { Ask } from './in-process.ts';

/** Everything that a server can ask of a client. */
export const EVERYTHING: Json = {
  sampling: { tools: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: Json;
}

/** Returns the questions of a round; fails with the answer where that is not a round. */
export function questionsOf({ result, error }: Received): Question[] {
  if (result?.['resultType'] !== 'input_required') throw new Error(JSON.stringify(error ?? result));
  const requests = result['inputRequests'] as Record<string, Omit<Question, 'key'>>;
  return Object.entries(requests).map(([key, question]) => ({ key, ...question }));
}

export function stateOf({ result }: Received): string {
  return result?.['requestState'] as string;
}

/** The same call with answers to the questions of the round before, in their order. */
export function again(
  ask: Ask,
  params: Json,
  round: Received,
  answers: readonly unknown[],
): Promise<Received> {
  const entries = questionsOf(round).map(({ key }, index) => [key, answers[index]]);
  const inputResponses = Object.fromEntries(entries.filter(([, answer]) => answer !== undefined)) as Json;
  return ask('tools/call', { ...params, inputResponses, requestState: stateOf(round) });
}
