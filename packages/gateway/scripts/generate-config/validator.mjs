// @ts-check
import { refName } from './read-schema.mjs';

/** @import { Node, Schema } from './read-schema.mjs' */

/**
 * Plain functions that report every value of the wrong shape: one for each object, list and map.
 * @param {Schema} schema
 */
export function renderValidator(schema) {
  /** @type {Map<string, string>} */
  const functions = new Map();
  for (const [name, node] of schema) renderObject({ name, node, functions });
  return [...functions.values()].join('\n\n');
}

/**
 * @typedef {object} Task
 * @property {string} name what the function checks, in camel case with a capital
 * @property {Node} node
 * @property {Map<string, string>} functions those written so far
 * @property {string} [text] the sentence of the node around this one
 * @property {boolean} [told] whether the caller has made sure of the kind of value
 */

/** @param {Task} task */
function renderObject({ name, node, functions }) {
  const { properties = {}, required = [] } = node;
  // Reserved first, so that an object stands before the parts that it checks.
  functions.set(name, '');
  const cases = Object.entries(properties).map(([key, property]) => {
    const check = renderCheck({ name: name + capital(key), node: property, functions, step: 'key' });
    const isLater = property.status === 'accepted' && node.status !== 'accepted';
    return lines(`case ${quote(key)}:`, check, ...(isLater ? [renderLater(key)] : []), 'break;');
  });
  const body = lines(
    ...required.map((key) => renderMissing(key, properties[key] ?? {})),
    'for (const [key, item] of Object.entries(value)) {',
    'if (item === undefined) continue;',
    'switch (key) {',
    ...cases,
    `default: found.unknown.push({ parent: at, key, known: ${constant(name)}_KEYS });`,
    '}}',
  );
  const keys = `const ${constant(name)}_KEYS: readonly string[] = [${Object.keys(properties).map(quote).join(', ')}];`;
  functions.set(name, `${keys}\n\n${renderFunction({ name, kind: KINDS.object, text: textOf(node), body })}`);
}

/**
 * The warning for a key that is checked and kept only.
 * @param {string} key
 */
function renderLater(key) {
  const message = `${key} is understood, but nothing acts on it yet`;
  return `found.warnings.push({ path: [...at, key], message: ${quote(message)} });`;
}

/**
 * @param {string} key
 * @param {Node} property
 */
function renderMissing(key, property) {
  const [, remedy = ''] = textOf(property).split(/: (.*)/s);
  const message = [`Missing required field: ${key}`, remedy].filter(Boolean).join('; ');
  const finding = `{ path: [...at, ${quote(key)}], message: ${quote(message)} }`;
  return `if (!has(value, ${quote(key)})) { found.errors.push(${finding}); }`;
}

/**
 * A statement that checks `item`, which stands one `step` below `at`. Most are plain and right: no path is made for them.
 * @param {Task & { step: 'key' | 'index' }} task
 * @returns {string}
 */
function renderCheck({ step, ...task }) {
  const { node, text = textOf(node) } = task;
  const here = `[...at, ${step}]`;
  if (node.$ref !== undefined) return `check${refName(node)}(item, ${here}, found);`;
  if (isComposite(node)) return `${renderComposite({ ...task, text })}(item, ${here}, found);`;
  const finding = `{ path: ${here}, message: ${quote(text)}, value: item }`;
  return `if (${renderMismatch(node)}) { found.errors.push(${finding}); }`;
}

/** @param {Node} node */
function isComposite(node) {
  return node.type === 'array' || node.type === 'object' || node.anyOf !== undefined;
}

/**
 * Writes the function for a list, a map or a choice, and gives its name.
 * @param {Task & { text: string }} task
 */
function renderComposite(task) {
  const { name, node, functions } = task;
  functions.set(name, '');
  const render = node.anyOf !== undefined ? renderUnion : node.type === 'array' ? renderList : renderMap;
  functions.set(name, render(task));
  return `check${name}`;
}

/** @param {Task & { text: string }} task */
function renderList({ name, node, functions, text, told }) {
  const item = { name: `${name}Item`, node: node.items ?? {}, functions, text };
  const check = renderCheck({ ...item, step: 'index' });
  const body = lines(`for (const [index, item] of value.entries()) {`, check, '}');
  return renderFunction({ name, kind: KINDS.array, text, body, told });
}

/** @param {Task & { text: string }} task */
function renderMap({ name, node, functions, text, told }) {
  const item = { name: `${name}Item`, node: node.additionalProperties ?? {}, functions, text };
  const check = renderCheck({ ...item, step: 'key' });
  const body = lines(
    'for (const [key, item] of Object.entries(value)) {',
    renderKeyCheck(node.propertyNames),
    check,
    '}',
  );
  return renderFunction({ name, kind: KINDS.object, text, body, told });
}

/** @param {Node | undefined} node */
function renderKeyCheck(node) {
  if (node?.minLength === undefined) return '';
  return `if (key === '') { found.errors.push({ path: [...at, key], message: ${quote(textOf(node))}, value: key }); }`;
}

/**
 * The options of a choice differ in kind, so the kind says which of them is meant.
 * @param {Task & { text: string }} task
 */
function renderUnion({ name, node, functions, text }) {
  const branches = (node.anyOf ?? []).map((option) => {
    const kind = KINDS[option.type ?? ''];
    if (kind === undefined) throw new Error(`${name}: no way to tell ${option.type} from other options`);
    if (!isComposite(option)) return `if (${kind.test}) return;`;
    const check = renderComposite({ name: name + kind.suffix, node: option, functions, text, told: true });
    return `if (${kind.test}) { ${check}(value, at, found); return; }`;
  });
  const finding = `found.errors.push({ path: at, message: ${quote(text)}, value });`;
  return lines(
    `function check${name}(value: unknown, at: JsonPath, found: Findings): void {`,
    ...branches,
    finding,
    '}',
  );
}

/**
 * @typedef {{ test: string, type: string, suffix: string }} Kind how a kind of value is told, typed and named
 * @type {Record<string, Kind>}
 */
const KINDS = {
  boolean: { test: "typeof value === 'boolean'", type: 'boolean', suffix: 'Boolean' },
  array: { test: 'isList(value)', type: 'readonly unknown[]', suffix: 'List' },
  object: { test: 'isRecord(value)', type: 'Record<string, unknown>', suffix: 'Map' },
};

/** @param {{ name: string, kind: Kind | undefined, text: string, body: string, told?: boolean | undefined }} parts */
function renderFunction({ name, kind, text, body, told = false }) {
  const finding = `{ path: at, message: ${quote(text)}, value }`;
  return lines(
    name === 'McpConfig' ? `${TOP_COMMENT}\nexport` : '',
    `function check${name}(value: ${told ? kind?.type : 'unknown'}, at: JsonPath, found: Findings): void {`,
    told ? '' : `if (!${kind?.test}) { found.errors.push(${finding}); return; }`,
    body,
    '}',
  );
}

const TOP_COMMENT =
  '/** Reports every value of a config that has the wrong shape, and every key that nobody reads. */';

/**
 * The condition under which a plain value `item` is wrong.
 * @param {Node} node
 */
function renderMismatch(node) {
  if (node.enum !== undefined) return node.enum.map((choice) => `item !== ${quote(choice)}`).join(' && ');
  const type = node.type === 'integer' ? 'number' : node.type;
  return [`typeof item !== '${type}'`, ...bounds(node)].join(' || ');
}

/** @param {Node} node */
function bounds(node) {
  const conditions = [];
  if (node.pattern !== undefined) conditions.push(`!/${node.pattern}/.test(item)`);
  if (node.type === 'number') conditions.push('!Number.isFinite(item)');
  if (node.type === 'integer') conditions.push('!Number.isSafeInteger(item)');
  if (node.minimum !== undefined) conditions.push(`item < ${node.minimum}`);
  if (node.exclusiveMinimum !== undefined) conditions.push(`item <= ${node.exclusiveMinimum}`);
  // The bound that zod gives every whole number is in isSafeInteger already.
  if (node.maximum !== undefined && node.maximum !== Number.MAX_SAFE_INTEGER)
    conditions.push(`item > ${node.maximum}`);
  return conditions;
}

/** @param {Node} node */
function textOf({ errorMessage = '' }) {
  return errorMessage;
}

/** @param {string[]} parts */
function lines(...parts) {
  return parts.filter(Boolean).join('\n');
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {string} name */
function constant(name) {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** @param {string} text */
function quote(text) {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
