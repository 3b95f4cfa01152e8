import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { cutText, DEFAULT_BUDGET, mergeInstructions } from './instructions.ts';

const server = (serverKey: string, instructions?: string): Upstream =>
  ({ serverKey, instructions }) as Upstream;

const merge = (servers: readonly Upstream[], budget: number = DEFAULT_BUDGET, notice?: string) =>
  mergeInstructions(servers, { budget, isOnlyOne: false, notice });

const POINTER =
  '[Some texts are cut. The full text of a server is in the resource weir://instructions/<server>]';

describe('instructions within the budget', () => {
  verifies('AGG-CALL-3', 'the instructions of several servers stand under their keys', () => {
    expect(merge([server('a', '\n Be kind. '), server('b'), server('c', 'Be *short*.')])).toEqual({
      text: '## a\n\nBe kind.\n\n## c\n\nBe *short*.',
      cut: new Map(),
    });
    expect(merge([server('a', ' Be kind. ')]).text).toBe('## a\n\nBe kind.');
    expect(merge([server('a', ' '), server('b')]).text).toBeUndefined();
    expect(merge([]).text).toBeUndefined();
  });

  verifies('AGG-CALL-3', 'the instructions of an only server are kept byte for byte', () => {
    const text = `  ${'x'.repeat(DEFAULT_BUDGET - 3)}\n`;
    const { text: merged, cut } = mergeInstructions([server('a', text)], {
      budget: DEFAULT_BUDGET,
      isOnlyOne: true,
    });
    expect(merged).toBe(text);
    expect(cut.size).toBe(0);
  });

  verifies('AGG-CHILD-3', 'merged instructions follow a notice', () => {
    expect(merge([server('a', 'Be kind.')], 100, 'Something is missing.').text).toBe(
      'Something is missing.\n\n## a\n\nBe kind.',
    );
  });
});

describe('instructions over the budget', () => {
  verifies(
    'AGG-CALL-3',
    'merged instructions keep short texts whole and share the rest of the budget',
    () => {
      const long = 'This is one of many sentences. '.repeat(100);
      const { text = '', cut } = merge([server('a', long), server('b', 'Be kind.'), server('c', long)]);
      const [a = '', b, c = '', pointer] = text.split(/\n\n(?=## |\[Some)/u);
      expect(b).toBe('## b\n\nBe kind.');
      expect(pointer).toBe(POINTER);
      for (const section of [a, c]) expect(section).toMatch(/^## [ac]\n\nThis is .* sentences\. \[…\]$/u);
      expect(a.length).toBe(c.length);
      expect(text.length).toBeGreaterThan(DEFAULT_BUDGET - 70);
      expect([...cut]).toEqual([
        ['a', long.trim()],
        ['c', long.trim()],
      ]);
    },
  );

  verifies('AGG-CALL-3', 'the instructions of an only server are cut with a link to the whole text', () => {
    const long = 'One sentence. '.repeat(500);
    const { text = '', cut } = mergeInstructions([server('a b', long)], {
      budget: DEFAULT_BUDGET,
      isOnlyOne: true,
    });
    expect(text).toMatch(/ sentence\. \[…\]\n\n\[Cut\. .* weir:\/\/instructions\/a%20b\]$/u);
    expect(cut.get('a b')).toBe(long);
  });

  verifies('AGG-CALL-3', 'merged instructions have at most 2000 characters by default', () => {
    const cutAt = (length: number): number => {
      const only = [server('a', 'x'.repeat(length))];
      return mergeInstructions(only, { budget: DEFAULT_BUDGET, isOnlyOne: true }).cut.size;
    };
    expect([cutAt(2000), cutAt(2001)]).toEqual([0, 1]);
  });

  verifies('AGG-CALL-3', 'merged instructions leave servers out rather than cut each to nothing', () => {
    const servers = Array.from({ length: 100 }, (_, i) => server(`server-${i}`, 'Mind the gap. '.repeat(50)));
    const { text = '', cut } = merge(servers);
    expect(text.match(/^## /gmu)?.length).toBeGreaterThan(20);
    expect(text.endsWith(POINTER)).toBe(true);
    expect(cut.size).toBe(100);
  });

  verifies('AGG-CALL-3', 'merged instructions are undefined with a budget of 0', () => {
    expect(merge([server('a', 'Be kind.')], 0)).toEqual({
      text: undefined,
      cut: new Map([['a', 'Be kind.']]),
    });
  });
});

const texts = fc.oneof(
  fc.lorem({ maxCount: 60, mode: 'sentences' }),
  fc.string({ unit: 'grapheme', maxLength: 3000 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

verifies('AGG-CALL-3', 'merged instructions never exceed the budget', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ maxLength: 40 }), texts), { maxLength: 20 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.option(fc.string({ maxLength: 300 })),
      fc.boolean(),
      (servers, budget, notice, isOnlyOne) => {
        const given = servers.map(([key, text]) => server(key, text)).slice(0, isOnlyOne ? 1 : 20);
        const { text = '', cut } = mergeInstructions(given, {
          budget,
          isOnlyOne,
          notice: notice ?? undefined,
        });
        expect(text.length).toBeLessThanOrEqual(budget);
        for (const { serverKey, instructions = '' } of given)
          if (instructions.trim() !== '' && !cut.has(serverKey)) expect(text).toContain(instructions.trim());
      },
    ),
  );
});

describe('cutText', () => {
  verifies('AGG-CALL-3', 'cutText cuts after a sentence, else after a word, else after a character', () => {
    expect(cutText('Use it well. Then rest for a while.', 20)).toBe('Use it well.');
    expect(cutText('Use “it well.” Then rest.', 20)).toBe('Use “it well.”');
    expect(cutText('A. But a very long sentence that does not end', 20)).toBe('A. But a very long');
    expect(cutText('これは文です。次の文です。', 9)).toBe('これは文です。');
    expect(cutText('x'.repeat(30), 20)).toBe('x'.repeat(20));
    expect(cutText('version 1.2.3.4 of it', 13)).toBe('version');
  });

  verifies('AGG-CALL-3', 'cutText never cuts within a character', () => {
    expect(cutText('ab😀', 3)).toBe('ab');
    expect(cutText('ae\u0301x', 2)).toBe('a');
    expect(cutText('a👩‍👩‍👧b', 5)).toBe('a');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 40 }), (text, room) => {
        const kept = cutText(text, room);
        expect(kept.length).toBeLessThanOrEqual(room);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
      }),
    );
  });
});
