// @ts-check
import { dirname } from 'node:path';
import { build } from 'esbuild';

/**
 * A node of the JSON Schema that zod makes of the config schema, with the keys that `meta` adds.
 * @typedef {object} Node
 * @property {string} [type]
 * @property {string} [$ref]
 * @property {string} [id]
 * @property {string} [description]
 * @property {string} [errorMessage]
 * @property {string} [status]
 * @property {boolean} [live]
 * @property {unknown[]} [examples]
 * @property {unknown} [default]
 * @property {Record<string, Node>} [properties]
 * @property {string[]} [required]
 * @property {Node} [additionalProperties]
 * @property {Node} [propertyNames]
 * @property {Node} [items]
 * @property {Node[]} [anyOf]
 * @property {string[]} [enum]
 * @property {string} [pattern]
 * @property {number} [minLength]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [exclusiveMinimum]
 */

/** @typedef {Record<string, { keys: string[], isStarted: boolean }>} Kinds the kinds of servers, with the keys that tell each */
/** @typedef {Map<string, Node>} Schema every named object, the file's own first, then as they are referred to */

/**
 * Reads the config schema out of its TypeScript file.
 * @param {string} path
 * @returns {Promise<{ schema: Schema, kinds: Kinds }>}
 */
export async function readSchema(path) {
  const source = `import { z } from 'zod'; import { configSchema, SERVER_KINDS as kinds } from ${JSON.stringify(path)};
    export { kinds };
    export const schema = z.toJSONSchema(configSchema, { io: 'input' });`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: dirname(path), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const { schema, kinds } = await import(`data:text/javascript;base64,${code}`);
  return { schema: inOrder(schema.$defs, refName(schema)), kinds };
}

/**
 * @param {Record<string, Node>} nodes
 * @param {string} first
 */
function inOrder(nodes, first) {
  /** @type {Schema} */
  const ordered = new Map();
  const waiting = [first];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const node = nodes[name];
    if (node === undefined || ordered.has(name)) continue;
    ordered.set(name, node);
    for (const [, found = ''] of JSON.stringify(node).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g))
      waiting.push(found);
  }
  return ordered;
}

/**
 * The name of the object that a node refers to, or ''.
 * @param {Node} node
 */
export function refName({ $ref = '' }) {
  return $ref.slice('#/$defs/'.length);
}

/**
 * The node itself, or the object that it refers to.
 * @param {Node} node
 * @param {Schema} schema
 */
export function resolve(node, schema) {
  return schema.get(refName(node)) ?? node;
}

/**
 * The schema as editors use it: what only the generator reads is put into words.
 * @param {Schema} schema
 */
export function publicSchema(schema) {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The config file of the gateway',
    $ref: `#/$defs/${[...schema.keys()][0]}`,
    $defs: publish(Object.fromEntries(schema)),
  };
}

/** Keys of a node that only the generator reads. */
const OURS = new Set(['status', 'live']);

/**
 * @param {unknown} value
 * @returns {unknown}
 */
function publish(value) {
  if (Array.isArray(value)) return value.map(publish);
  if (typeof value !== 'object' || value === null) return value;
  // A key of the config may have the name of one of ours: it has a node for its value.
  const entries = Object.entries(value).filter(([key, item]) => !OURS.has(key) || typeof item === 'object');
  const node = Object.fromEntries(entries.map(([key, item]) => [key, publish(item)]));
  if ('status' in value && value.status === 'accepted')
    node.description += ' Accepted, but not in effect yet.';
  return node;
}
