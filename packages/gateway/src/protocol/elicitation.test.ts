import { describe, expect, test } from 'vitest';
import { legacyQuestion, modernQuestion } from './elicitation.ts';

const ELICIT = 'elicitation/create';

describe('an elicitation in URL mode', () => {
  test('modernQuestion removes the id of a URL elicitation and nothing else', () => {
    const params =
      '{"mode":"url","elicitationId":"a-1","url":"https://example.com","x":12345678901234567890}';
    expect(modernQuestion(ELICIT, params)).toBe(
      '{"mode":"url","url":"https://example.com","x":12345678901234567890}',
    );
  });

  test('legacyQuestion gives a URL elicitation a new id', () => {
    const params = '{"mode":"url","url":"https://example.com/é"}';
    const first = JSON.parse(legacyQuestion(ELICIT, params)) as { elicitationId: string };
    const second = JSON.parse(legacyQuestion(ELICIT, params)) as { elicitationId: string };
    expect(first).toEqual({ mode: 'url', url: 'https://example.com/é', elicitationId: first.elicitationId });
    expect(first.elicitationId).not.toBe(second.elicitationId);
  });

  test('legacyQuestion keeps the id that a URL elicitation already has', () => {
    const params = '{"mode":"url","url":"https://example.com","elicitationId":"a-1"}';
    expect(legacyQuestion(ELICIT, params)).toBe(params);
  });
});

test.each([
  [ELICIT, '{"mode":"form","elicitationId":1}'],
  [ELICIT, '{"message":"no mode is a form"}'],
  ['sampling/createMessage', '{"mode":"url"}'],
  ['roots/list', '{}'],
])('%s with %s is the same for clients of both eras', (method, params) => {
  expect(modernQuestion(method, params)).toBe(params);
  expect(legacyQuestion(method, params)).toBe(params);
});
