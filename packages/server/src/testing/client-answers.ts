import type { Client } from '@modelcontextprotocol/client';
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
} from '@modelcontextprotocol/server';

/** Answers of the client's user and model. The client declares the capabilities that it has an answer for. */
export interface ClientAnswers {
  /** Answers a question of the server, by form or by address. */
  onElicitation?(params: ElicitRequestParams): ElicitResult | Promise<ElicitResult>;
  /** Answers a request for a message of the model. */
  onSampling?(params: CreateMessageRequest['params']): CreateMessageResult | Promise<CreateMessageResult>;
}

export function answerQuestions(client: Client, answers: ClientAnswers): void {
  if (answers.onElicitation !== undefined) {
    client.registerCapabilities({ elicitation: { form: {}, url: {} } });
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      return (await answers.onElicitation?.(params)) ?? { action: 'cancel' };
    });
  }
  if (answers.onSampling === undefined) return;
  client.registerCapabilities({ sampling: {} });
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    const answer = await answers.onSampling?.(params);
    if (answer === undefined) throw new Error('onSampling returned nothing: return a message');
    return answer;
  });
}
