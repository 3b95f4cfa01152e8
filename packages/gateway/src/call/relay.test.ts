import { expect, test } from 'vitest';
import { systemTimers } from '../time/schedule.ts';
import { NO_ACCOUNT } from '../wire/account.ts';
import { lineBytes, type Line } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { accept, type InFlightRequest } from './relay.ts';
import { CallQueue } from './stages/limits/call-queue.ts';
import { Permit } from './stages/limits/permit.ts';

function message(value: object): Message {
  return readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...value }))) as Message;
}

/** Sends a call under a concurrency limit of 1, with another call in the queue; returns what its server gets, in order. */
function callWithNext(): { call: InFlightRequest; sent: string[] } {
  const sent: string[] = [];
  const queue = new CallQueue(1);
  queue.take();
  queue.wait({ client: {}, begin: () => sent.push('the next call') });
  const write = (line: Line): void => {
    const { method } = JSON.parse(lineBytes(line).toString()) as { method: string };
    sent.push(method);
  };
  const request = message({ id: 1, method: 'tools/call', params: { name: 't' } });
  const call = accept(request, {
    from: { account: NO_ACCOUNT, send() {}, answer() {}, track: () => 1, untrack() {} },
    to: {
      gone: undefined,
      account: NO_ACCOUNT,
      isBehind: false,
      onResponse: () => 1,
      forget() {},
      send: write,
      notify: (method) => void sent.push(method),
    },
    translation: { request: () => [] },
    observer: new Permit(queue, undefined, systemTimers),
  }) as InFlightRequest;
  call.send(request);
  return { call, sent };
}

const cancellation = message({ method: 'notifications/cancelled', params: { requestId: 1 } });

test.each<[string, (call: InFlightRequest) => void]>([
  ['a cancelled call', (call) => call.cancel(cancellation)],
  ['a call whose client has left', (call) => call.abandon('The client has left')],
])('the server learns of the end of %s before the next call reaches it', (_, end) => {
  const { call, sent } = callWithNext();
  end(call);
  expect(sent).toEqual(['tools/call', 'notifications/cancelled', 'the next call']);
});
