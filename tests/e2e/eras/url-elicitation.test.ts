// A server of 2025-11-25 may refuse a call until its user has been to an address: an error there, a round in the modern revision.
import { describe, expect } from 'vitest';
import { fixture, modernMeta, textOf, type Json } from '../../support/harness.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { again, EVERYTHING, questionsOf, stateOf } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const url = 'https://a.example/sign-in?n=1';
const call = { name: 'c:enter', arguments: { url, extra: { 'x-more': [1.5] } } };

describe('an address to visit before a call', () => {
  verifies(
    'ERA-2',
    'an address to visit is a round for a modern client, and the call repeats when it agrees',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const round = await ask('tools/call', call);
      const params = { mode: 'url', url, message: 'Sign in', 'x-more': [1.5] };
      expect(questionsOf(round)).toEqual([
        { key: expect.any(String) as string, method: 'elicitation/create', params },
      ]);
      // The client has agreed, the user has not been there yet: the server says so again.
      const second = await again(ask, call, round, [{ action: 'accept' }]);
      expect(questionsOf(second)).toEqual(questionsOf(round));
      await ask('tools/call', { name: 'c:visit', arguments: { url } });
      const last = await again(ask, call, second, [{ action: 'accept' }]);
      // The server gets the call as it was first made.
      expect(JSON.parse(textOf(last))).toEqual({
        params: { name: 'enter', arguments: call.arguments, _meta: {} },
        rest: {},
      });
      expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
    },
  );

  verifies('ERA-2', 'a call ends when its client does not agree to visit an address', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    for (const action of ['decline', 'cancel', 'nonsense']) {
      const round = await ask('tools/call', call);
      expect((await again(ask, call, round, [{ action }])).error).toMatchObject({
        code: -32000,
        message: expect.stringContaining('the client did not accept') as string,
      });
    }
  });

  verifies('ERA-2', 'the requestState of an address to visit is valid only for its own call', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const round = await ask('tools/call', call);
    const parts = stateOf(round).split('.');
    const tries: [Json, string][] = [
      [{ ...call, arguments: { url: 'https://b.example/' } }, stateOf(round)],
      [{ ...call, name: 'c:ask' }, stateOf(round)],
      ...parts.map((part, index): [Json, string] => [call, parts.with(index, `${part}1`).join('.')]),
      [call, parts.with(3, '999999999999999').join('.')],
    ];
    for (const [params, requestState] of tries)
      expect((await ask('tools/call', { ...params, requestState })).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Make the call again') as string,
      });
  });

  verifies('ERA-2', 'an address to visit is an error for a client without URL elicitation', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    await open(weir, 'modern');
    for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
      const { error } = await weir.request('tools/call', { ...call, ...modernMeta(capabilities) });
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      });
    }
  });

  verifies(
    'ERA-2',
    'invalid addresses to visit become an error with a code that is valid in the modern era',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      for (const data of [
        undefined,
        {},
        { elicitations: [] },
        { elicitations: {} },
        { elicitations: [{ url }, 7] },
        { elicitations: [{ url: 7 }] },
      ]) {
        const { error } = await ask('tools/call', { name: 'c:fail', arguments: { code: -32042, data } });
        expect(error).toEqual({ code: -32000, message: 'It failed', ...(data && { data }) });
      }
      const shortened = { elicitations: [{ url }, { mode: 'form', url }] };
      const round = await ask('tools/call', { name: 'c:fail', arguments: { code: -32042, data: shortened } });
      expect(questionsOf(round).map(({ params }) => params)).toEqual([
        { mode: 'url', url },
        { mode: 'url', url },
      ]);
    },
  );

  verifies('ERA-2', 'a legacy client gets the error with an address to visit unchanged', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    await weir.initialize(EVERYTHING);
    expect((await weir.request('tools/call', call)).error).toEqual({
      code: -32042,
      message: 'URL elicitation required',
      data: {
        elicitations: [{ mode: 'url', elicitationId: 'e-1', url, message: 'Sign in', 'x-more': [1.5] }],
      },
    });
  });
});
