// A client that answers what servers ask, and writes down all that comes back.
import { ProtocolError, type Client, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { masked } from '../fleet/masks.ts';
import type { Step } from '../fleet/real-fleet.ts';
import type { Json } from './harness.ts';

/** The outcome of one request. */
export interface Outcome {
  readonly request: string;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly progress: unknown[];
  readonly questions: unknown[];
}

/** Everything that a server can ask of a client. */
export const ABLE: Json = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** The SDK's own schemas would leave out what they do not know. */
const ANYTHING: StandardSchemaV1<unknown, Json> = {
  '~standard': { version: 1, vendor: 'weir', validate: (value) => ({ value: value as Json }) },
};

export class Conversation {
  readonly client: Client;
  readonly #progress = new Map<unknown, unknown[]>();
  #questions: unknown[] = [];
  #lastToken = 0;

  constructor(client: Client, root: string) {
    this.client = client;
    client.setNotificationHandler('notifications/progress', { params: ANYTHING }, (params) => {
      const { progressToken, ...rest } = params;
      this.#progress.get(progressToken)?.push(rest);
    });
    client.fallbackRequestHandler = async ({ method, params }) => this.#answer(method, root, params);
  }

  async request(method: string, params: Json = {}): Promise<Json> {
    return await this.client.request({ method, params }, ANYTHING);
  }

  /** All pages of a list; none where the server has no such list. */
  async list(method: string): Promise<Json[]> {
    const kind = method.split('/')[0] as 'tools' | 'prompts' | 'resources';
    if (this.client.getServerCapabilities()?.[kind] === undefined) return [];
    const items: Json[] = [];
    let cursor: unknown;
    do {
      const page = await this.request(method, cursor === undefined ? {} : { cursor });
      items.push(...((Object.values(page).find(Array.isArray) ?? []) as Json[]));
      cursor = page['nextCursor'];
    } while (cursor !== undefined);
    return items;
  }

  /** Waits until a tool is there, listed or not: calls it without arguments until the answer is not "not found". */
  async untilCallable(name: string): Promise<void> {
    const deadline = performance.now() + 20_000;
    const answer = async (): Promise<string> =>
      JSON.stringify(
        await this.#ask({ method: 'tools/call', params: { name }, masks: [], asks: false }, name),
      );
    while (/not found/iu.test(await answer())) {
      if (performance.now() > deadline) throw new Error(`There never was a tool ${name}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Takes one step; `named` is the step as it is asked for here. */
  async take(step: Step, named: Step = step): Promise<Outcome> {
    const progressToken = `token-${++this.#lastToken}`;
    const progress: unknown[] = [];
    const questions: unknown[] = [];
    this.#progress.set(progressToken, progress);
    // Only one server of the fleet asks, and one step after the other.
    if (step.asks) this.#questions = questions;
    const answer = await this.#ask(named, progressToken);
    // A notification that came before the answer is handed out a moment after it.
    await new Promise((resolve) => setImmediate(resolve));
    this.#progress.delete(progressToken);
    const request = `${step.method} ${JSON.stringify(step.params).slice(0, 100)}`;
    return masked({ request, ...answer, progress, questions }, step.masks) as Outcome;
  }

  async #ask({ method, params }: Step, progressToken: string): Promise<Pick<Outcome, 'result' | 'error'>> {
    try {
      return { result: await this.request(method, { ...params, _meta: { progressToken } }) };
    } catch (error) {
      if (!ProtocolError.isInstance(error)) throw error;
      const { code, message, data } = error;
      return { error: { code, message, data } };
    }
  }

  #answer(method: string, root: string, params: unknown): Json {
    if (method === 'roots/list') return { roots: [{ uri: `file://${root}`, name: 'files' }] };
    this.#questions.push({ method, params });
    if (method === 'elicitation/create') return { action: 'accept', content: { name: 'Ada', agree: true } };
    const content = { type: 'text', text: 'Something' };
    return { role: 'assistant', model: 'a-model', stopReason: 'endTurn', content };
  }
}
