import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { Deferred } from '../deferred.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { LiveCatalogue } from './live-catalogue.ts';

const CHANGED = 'notifications/tools/list_changed';

/** A server whose lists are answered by hand, in any order. */
class ByHand {
  readonly asked: { readonly params: string; answer(result: string): void }[] = [];
  readonly changes: string[] = [];
  readonly catalogue: LiveCatalogue = new LiveCatalogue({
    capabilities: { tools: {} },
    meta: '',
    request: (_, params) => {
      const answer = new Deferred<Message>();
      this.asked.push({ params, answer: (result) => answer.resolve(listAnswer(result)) });
      return answer.promise;
    },
    warn: () => {},
    changed: (kind) => void this.changes.push(kind),
  });

  get names(): string[] {
    return this.catalogue.listings.tools.items.map(({ key }) => key);
  }

  async answer(result: string): Promise<void> {
    this.asked.shift()?.answer(result);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function listAnswer(result: string): Message {
  return readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)) as Message;
}

verifies('AGG-REG-2', 'a list that changes while it is first read is as it was read last', async () => {
  const server = new ByHand();
  const loaded = server.catalogue.loadAll(() => 1000);
  server.catalogue.refresh(CHANGED);
  const known = server.catalogue.readAgain('tools');
  expect(server.asked).toHaveLength(1);
  await server.answer('{"tools":[{"name":"old"}],"nextCursor":"2"}');
  await server.answer('{"tools":[{"name":"older"}]}');
  await loaded;
  expect(server.names).toEqual(['old', 'older']);
  await server.answer('{"tools":[{"name":"new"}]}');
  await known;
  expect(server.names).toEqual(['new']);
  expect(server.changes).toContain('tools');
  expect(server.asked).toEqual([]);
});
