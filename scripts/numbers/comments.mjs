// @ts-check
// The sentences of comments that break the rules of plain English in CONTRIBUTING.md.

/** @typedef {{ path: string; line: number; rule: keyof typeof RULES; sentence: string }} Breach */

/** The first rule that a sentence breaks counts, and only that one. */
const RULES = {
  // "What the client sent" hides the subject: a doc comment begins with a verb or a noun.
  opening:
    /^(?:(?:What|Where|Who|Which|Whom|How)(?:ever)?(?! ?,)|Whether|Whose|Nobody|Somebody|It|Those (?:who|that|which|whose)|(?:At|By|For|From|In|Of|On|To|Under|With) (?:what|which|whom?|whose))\b/,
  // A person without a name is a client, a server or a user.
  people: /\b(?:(?:no|some|any|every)body|(?:some|any|every)one|no one|who(?:m|so)?ever)\b/i,
  // "Is no message" is "is not a message". "There is no message" is plain enough.
  isNo: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b)/i,
};

/** A block comment, or lines of `//` without another line between them. */
const COMMENT = /(?<=^|[ \t])\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*(?:\n|$))+|(?<=[ \t])\/\/ .*$/gm;

/**
 * Finds the sentences that break a rule, in order.
 * @param {import('./sources.mjs').SourceFile} file
 * @returns {Breach[]}
 */
export function breachesIn({ path, text }) {
  return [...text.matchAll(COMMENT)].flatMap(({ 0: comment, index }) => {
    const line = text.slice(0, index).split('\n').length;
    return sentencesOf(comment).flatMap((sentence) => {
      const rule = brokenRule(sentence);
      return rule === undefined ? [] : [{ path, line, rule, sentence }];
    });
  });
}

/** @param {string} comment */
function sentencesOf(comment) {
  const words = comment.replace(/^[ \t]*(?:\/\*\*?|\/\/|\*(?!\/))|\*\/$/gm, ' ').replace(/\s+/g, ' ');
  return words.trim().split(/(?<=[.!?]) (?=["'`(]?[A-Z])/);
}

/** @param {string} sentence */
function brokenRule(sentence) {
  const rules = /** @type {(keyof typeof RULES)[]} */ (Object.keys(RULES));
  return rules.find((name) => RULES[name].test(sentence));
}
