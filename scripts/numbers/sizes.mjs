// @ts-check
// Sizes of functions and classes, read from the syntax tree.
import { parseAst } from 'vitest/node';

/** @typedef {{ type: string; start: number; end: number; [member: string]: unknown }} Node */
/** @typedef {{ functions: number[]; classes: { name: string; methods: number }[] }} Sizes Lines per function. */

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/**
 * Measures functions that have a name (declarations, methods, and those that a constant or a property holds) and classes.
 * A callback belongs to the function that passes it.
 * @param {import('./sources.mjs').SourceFile} file
 * @returns {Sizes}
 */
export function sizesOf({ text }) {
  /** @type {Sizes} */
  const sizes = { functions: [], classes: [] };
  visit(parseAst(text, { lang: 'ts' }), (node) => {
    if (isNamedFunction(node)) sizes.functions.push(linesOf(text, node));
    if (node.type === 'ClassDeclaration') sizes.classes.push(classOf(node));
  });
  return sizes;
}

/**
 * @param {unknown} value
 * @param {(node: Node) => void} enter
 */
export function visit(value, enter) {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value) enter(/** @type {Node} */ (value));
  for (const member of Object.values(value)) visit(member, enter);
}

/** @param {Node} node */
function isNamedFunction(node) {
  if (node.type === 'FunctionDeclaration') return true;
  if (node.type === 'VariableDeclarator') return isFunction(node['init']);
  const isMember = ['MethodDefinition', 'PropertyDefinition', 'Property'].includes(node.type);
  return isMember && isFunction(node['value']);
}

/** @param {unknown} node */
function isFunction(node) {
  const { type, body } = /** @type {{ type?: string; body?: unknown }} */ (node ?? {});
  return type !== undefined && FUNCTIONS.has(type) && body !== null;
}

/** @param {Node} node */
function classOf(node) {
  const { id, body } = /** @type {{ id: { name: string }; body: { body: Node[] } }} */ (
    /** @type {unknown} */ (node)
  );
  const methods = body.body.filter(({ type, kind }) => type === 'MethodDefinition' && kind !== 'constructor');
  return { name: id.name, methods: methods.length };
}

/**
 * @param {string} text
 * @param {Node} node
 */
function linesOf(text, { start, end }) {
  return text.slice(start, end).split('\n').length;
}
