// @ts-check
import { refName, resolve } from './read-schema.mjs';

/** @import { Kinds, Node, Schema } from './read-schema.mjs' */

/** The types that other modules use; the rest are reached through these. */
const OFFERED = new Set(['McpConfig', 'ServerConfig']);

/**
 * An interface for every object.
 * @param {Schema} schema
 */
export function renderTypes(schema) {
  return [...schema].map(([name, node]) => renderInterface(name, node, schema)).join('\n\n');
}

/**
 * @param {string} name
 * @param {Node} node
 * @param {Schema} schema
 */
function renderInterface(name, node, schema) {
  const { properties = {}, required = [], description } = node;
  const members = Object.entries(properties).map(([key, property]) => {
    const comment = `/** ${resolve(property, schema).description} */`;
    return `${comment}\n${key}${required.includes(key) ? '' : '?'}: ${typeOf(property)};`;
  });
  const exported = OFFERED.has(name) ? 'export ' : '';
  return `/** ${description} */\n${exported}interface ${name} {\n${members.join('\n')}\n}`;
}

/**
 * The kinds of servers, as a type and with their keys.
 * @param {Kinds} kinds
 */
export function renderKinds(kinds) {
  return `/** The kinds of servers: the keys that tell each, and whether Weir starts it. */
export const SERVER_KINDS = ${JSON.stringify(kinds)} as const;
export type ServerKind = keyof typeof SERVER_KINDS;`;
}

/**
 * The keys of a server whose change needs no restart of it.
 * @param {Schema} schema
 */
export function renderLiveKeys(schema) {
  const properties = Object.entries(schema.get('ServerConfig')?.properties ?? {});
  const keys = properties.filter(([, { live }]) => live === true).map(([key]) => `'${key}'`);
  return `/** Keys that are read from the config in force whenever they count: a change of them needs no restart of the server. */
export const LIVE_KEYS: ReadonlySet<string> = new Set([${keys.join(', ')}]);`;
}

/**
 * For every object with defaults, its type with them filled in and the function that fills them.
 * @param {Schema} schema
 */
export function renderDefaults(schema) {
  return [...schema].map(([name, node]) => renderCompletion(name, node)).join('\n\n');
}

/**
 * @param {string} name
 * @param {Node} node
 */
function renderCompletion(name, { properties = {} }) {
  const filled = Object.entries(properties).filter(([, property]) => property.default !== undefined);
  if (filled.length === 0) return '';
  const keys = filled.map(([key]) => `'${key}'`).join(' | ');
  const values = filled.map(
    ([key, property]) => `${key}: value.${key} ?? ${JSON.stringify(property.default)}`,
  );
  return `/** With every default filled in. */
export type Complete${name} = ${name} & Required<Pick<${name}, ${keys}>>;

export function complete${name}(value: ${name}): Complete${name} {
  return { ...value, ${values.join(', ')} };
}`;
}

/**
 * A node as TypeScript writes its type.
 * @param {Node} node
 * @returns {string}
 */
function typeOf(node) {
  if (node.$ref !== undefined) return refName(node);
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(' | ');
  if (node.enum !== undefined) return node.enum.map((choice) => `'${choice}'`).join(' | ');
  if (node.type === 'array') return `${typeOf(node.items ?? {})}[]`;
  if (node.type === 'object') return `Record<string, ${typeOf(node.additionalProperties ?? {})}>`;
  return node.type === 'integer' ? 'number' : (node.type ?? 'unknown');
}
