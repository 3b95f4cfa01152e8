// @ts-check
// The titles of tests that break the rules of plain English in CONTRIBUTING.md.
import { parseAst } from 'vitest/node';
import { visit } from './sizes.mjs';

/** @typedef {import('./sizes.mjs').Node} Node */
/** @typedef {{ path: string; line: number; rule: keyof typeof RULES; title: string }} BadTitle */

/** The first rule that a title breaks counts, and only that one. */
const RULES = {
  // A failure is read in a list, without its file: a title without a subject says nothing there.
  opening:
    /^(?:(?:what|where|who|which|whom|how|when)(?:ever)?|whether|whose|why|that|of|is|has|may|and|or|not)\b/i,
  people: /\b(?:(?:no|some)body|no one|who(?:m|so)?ever)\b/i,
  isNo: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b)/i,
};

const DECLARES = ['test', 'it', 'describe', 'verifies'];

/** A name such as `onLinux`, for the tests that only some machines can run. */
const CONDITIONAL = /\bconst (\w+) = [^;]*?\b(?:test|it|describe|verifies)\.(?:skipIf|runIf)\(/g;

/**
 * Finds the titles that break a rule, in order. Titles that a loop takes from a variable are not seen.
 * @param {import('./sources.mjs').SourceFile} file
 * @returns {BadTitle[]}
 */
export function badTitlesIn({ path, text }) {
  return titlesIn(text).flatMap(({ title, start }) => {
    const rule = brokenRule(title);
    return rule === undefined ? [] : [{ path, line: text.slice(0, start).split('\n').length, rule, title }];
  });
}

/** @param {string} title */
function brokenRule(title) {
  const rules = /** @type {(keyof typeof RULES)[]} */ (Object.keys(RULES));
  return rules.find((name) => RULES[name].test(title));
}

/**
 * Lists the titles of the tests, and of the groups of tests, that a file declares.
 * @param {string} text
 */
function titlesIn(text) {
  const names = new Set([...DECLARES, ...[...text.matchAll(CONDITIONAL)].map(([, name = '']) => name)]);
  /** @type {{ title: string; start: number }[]} */
  const titles = [];
  visit(parseAst(text, { lang: 'ts' }), (node) => {
    if (node.type === 'CallExpression' && names.has(rootOf(node))) titles.push(...titlesOf(node));
  });
  return titles;
}

/**
 * Returns the name that a call begins with: `test` for `test.each(rows)('title', body)`.
 * @param {Node} node
 * @returns {string}
 */
function rootOf(node) {
  const { callee, object, name } = /** @type {{ callee?: Node; object?: Node; name?: string }} */ (
    /** @type {unknown} */ (node)
  );
  const inner = callee ?? object;
  return inner === undefined ? (name ?? '') : rootOf(inner);
}

/**
 * Returns the last text among the arguments, or the first text of each row where the title is only that.
 * @param {Node} call
 * @returns {{ title: string; start: number }[]}
 */
function titlesOf(call) {
  const { callee, arguments: args } = /** @type {{ callee: Node; arguments: Node[] }} */ (
    /** @type {unknown} */ (call)
  );
  const title = args.filter(isText).at(-1);
  if (title === undefined) return [];
  const rows = textOf(title).startsWith('%s') ? rowsOf(callee) : [];
  return [title, ...rows].map((node) => ({ title: textOf(node), start: node.start }));
}

/**
 * Lists the first text of each row of `each([…])`.
 * @param {Node} each
 */
function rowsOf(each) {
  const { arguments: [table] = [] } = /** @type {{ arguments?: Node[] }} */ (/** @type {unknown} */ (each));
  return elementsOf(table).flatMap((row) =>
    isText(row) ? [row] : elementsOf(row).slice(0, 1).filter(isText),
  );
}

/** @param {Node | undefined} node */
function elementsOf(node) {
  const { elements = [] } = /** @type {{ elements?: Node[] }} */ (/** @type {unknown} */ (node ?? {}));
  return elements;
}

/** @param {Node} node */
function isText(node) {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string');
}

/** @param {Node} node */
function textOf(node) {
  const { value, quasis } = /** @type {{ value?: string; quasis?: { value: { cooked: string } }[] }} */ (
    /** @type {unknown} */ (node)
  );
  return value ?? (quasis ?? []).map((part) => part.value.cooked).join('…');
}
