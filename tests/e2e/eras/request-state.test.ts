// The state that a modern client carries from round to round: valid for this client and this call, once, for a while.
import fc from 'fast-check';
import { describe, expect, onTestFinished } from 'vitest';
import { connectClient } from '../../support/clients.ts';
import { fixture, modernMeta, textOf, type Json, type Received } from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess } from '../../support/in-process.ts';
import { jsonText } from '../../support/json-texts.ts';
import { again, EVERYTHING, questionsOf, stateOf } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const ACCEPT = { action: 'accept', content: {} };
const question = { method: 'elicitation/create', params: { message: 'Well?', requestedSchema: {} } };
const call = { name: 'c:ask', arguments: { questions: [question], of: { big: 1, list: [1, 2] } } };

const STALE = {
  code: -32602,
  message: expect.stringContaining('Make the call again without it') as string,
};

/** The retry of a call with another state than it was given. */
const withState = (round: Received, requestState: unknown): Json => ({
  ...call,
  inputResponses: { [questionsOf(round)[0]?.key ?? '']: ACCEPT },
  requestState,
});

describe('a requestState', () => {
  verifies('ERA-2', 'the gateway refuses a changed requestState, and the right one still works', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const round = await ask('tools/call', call);
    const state = stateOf(round);
    const parts = state.split('.');
    expect(parts).toHaveLength(6);
    const forged = [
      ...parts.map((part, index) => parts.with(index, `${part}0`).join('.')),
      ...parts.map((part, index) =>
        parts
          .with(
            index,
            part.replace(/.$/, (last) => (last === '1' ? '2' : '1')),
          )
          .join('.'),
      ),
      ...parts.map((_, index) => parts.with(index, '').join('.')),
      parts.with(1, '0').join('.'),
      parts.with(3, '999999999999999').join('.'),
      `${parts.slice(0, 5).join('.')}.${'A'.repeat(43)}`,
      state.slice(0, -1),
      `${state} `,
      state.toUpperCase(),
      'garbage',
      '',
      'x'.repeat(1_000_000),
      `weir1.${'1'.repeat(1_000_000)}`,
      null,
      7,
      [state],
      { state },
    ];
    for (const wrong of forged)
      expect((await ask('tools/call', withState(round, wrong))).error).toMatchObject(STALE);
    expect(JSON.parse(textOf(await again(ask, call, round, [ACCEPT])))).toEqual([JSON.stringify(ACCEPT)]);
  });

  verifies('ERA-2', 'a requestState can be used once', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const twice = { ...call, arguments: { questions: [question, question] } };
    const first = await ask('tools/call', twice);
    const second = await again(ask, twice, first, [ACCEPT]);
    expect((await again(ask, twice, first, [ACCEPT])).error).toMatchObject(STALE);
    expect(textOf(await again(ask, twice, second, [ACCEPT]))).not.toBe('');
    for (const used of [first, second])
      expect((await again(ask, twice, used, [ACCEPT])).error).toMatchObject(STALE);
  });

  verifies('ERA-2', 'a requestState is valid only for its own request', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const round = await ask('tools/call', call);
    const { arguments: args } = call;
    const others: Json[] = [
      { ...call, name: 'c:talk' },
      { ...call, arguments: {} },
      { ...call, arguments: { ...args, of: { big: 2, list: [1, 2] } } },
      { ...call, arguments: { ...args, of: { big: 1, list: [2, 1] } } },
      { ...call, arguments: { ...args, of: { big: '1', list: [1, 2] } } },
      { ...call, more: 1 },
      { name: call.name },
    ];
    for (const other of others) expect((await again(ask, other, round, [ACCEPT])).error).toMatchObject(STALE);
    const prompt = { name: 'c:greet', inputResponses: {}, requestState: stateOf(round) };
    expect((await ask('prompts/get', prompt)).error).toMatchObject(STALE);
    // In another order, and with another envelope, it is the same.
    const same = { arguments: { of: { list: [1, 2], big: 1 }, questions: [question] }, name: 'c:ask' };
    const last = await again((method, params) => ask(method, params, { traceparent: '00-1' }), same, round, [
      ACCEPT,
    ]);
    expect(textOf(last)).not.toBe('');
  });

  verifies('ERA-2', 'a requestState distinguishes numbers that a parser would round to one', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    await open(weir, 'modern');
    const meta = JSON.stringify(modernMeta(EVERYTHING)._meta);
    const send = (id: string, big: string, more = ''): Promise<Received> => {
      const args = `{"big":${big},"questions":${JSON.stringify([question])}}`;
      weir.send(
        `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"c:ask","arguments":${args}${more},"_meta":${meta}}}`,
      );
      return weir.answer(id);
    };
    const round = await send('first', '12345678901234567890');
    const more = `,"inputResponses":{},"requestState":"${stateOf(round)}"`;
    expect((await send('other', '12345678901234567891', more)).error).toMatchObject(STALE);
    expect(questionsOf(await send('same', '12345678901234567890', more))).toEqual(questionsOf(round));
  });

  verifies('ERA-2', 'a requestState is invalid for another client and at another gateway', async () => {
    const gateway = createTestGateway({ c: fixture('asks-given-questions') });
    onTestFinished(() => gateway.close());
    const [mine, theirs] = [connectClient(gateway, 'me'), connectClient(gateway, 'them')];
    const ask = await open(mine.client, 'modern', EVERYTHING);
    const steal = await open(theirs.client, 'modern', EVERYTHING);
    void gateway.start();
    const round = await ask('tools/call', call);
    expect((await again(steal, call, round, [ACCEPT])).error).toMatchObject(STALE);
    await using other = serveInProcess({ c: fixture('asks-given-questions') });
    const askOther = await open(other, 'modern', EVERYTHING);
    // The other gateway has a suspended call under the same number.
    await askOther('tools/call', call);
    expect((await again(askOther, call, round, [ACCEPT])).error).toMatchObject(STALE);
    expect(textOf(await again(ask, call, round, [ACCEPT]))).not.toBe('');
  });

  verifies('ERA-2', 'the gateway ignores answers without a requestState', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions'), e: fixture('echo') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const round = await ask('tools/call', { ...call, inputResponses: { 'question-1': ACCEPT } });
    expect(questionsOf(round)).toHaveLength(1);
    // A server that knows no rounds does not see them either.
    await ask('tools/call', { name: 'e:echo', arguments: {}, inputResponses: { a: ACCEPT } });
    const seen = JSON.parse(textOf(await ask('tools/call', { name: 'e:seen' }))) as string[];
    expect(seen.join('')).not.toContain('inputResponses');
  });

  verifies(
    'ERA-2',
    'the gateway answers random requestStates, arguments, answers and envelopes',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const round = await ask('tools/call', call);
      const meta = JSON.stringify(modernMeta(EVERYTHING)._meta);
      const usual = [JSON.stringify(call.arguments), '{}', JSON.stringify(stateOf(round)), meta];
      const texts = fc.sample(jsonText, 2000).map((text) => text.replaceAll(/[\r\n]/g, ' '));
      for (const [index, text] of texts.entries()) {
        // Arguments, answers, state or envelope; the rest is as it should be.
        const [args, responses, state, envelope] = usual.with(index % 4, text);
        weir.send(
          `{"jsonrpc":"2.0","id":"${index}","method":"tools/call","params":{"name":"c:levels","arguments":${args},"inputResponses":${responses},"requestState":${state},"_meta":${envelope}}}`,
        );
        // Only what is neither the request nor an answer to it can be a message without an answer.
        await weir.answer(String(index));
      }
      expect(JSON.parse(textOf(await again(ask, call, round, [ACCEPT])))).toEqual([JSON.stringify(ACCEPT)]);
    },
  );
});
