import type { OutputSchemaLike } from './tool-module.ts';

export type JsonSchema = Record<string, unknown>;

interface Converted {
  input?: JsonSchema & { type: 'object' };
  output?: JsonSchema;
}

// A factory registers its modules for each request, but a conversion costs more than a call: it is kept with its schema.
const conversions = new WeakMap<OutputSchemaLike, Converted>();

/** Converts a schema of arguments, once; it has to describe an object. */
export function inputJsonSchema(schema: OutputSchemaLike): JsonSchema & { type: 'object' } {
  const kept = keptFor(schema);
  kept.input ??= withObjectRoot(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }));
  return kept.input;
}

/** Converts a schema of results, once; its root may be of any type. */
export function outputJsonSchema(schema: OutputSchemaLike): JsonSchema {
  const kept = keptFor(schema);
  kept.output ??= withProvenRoot(schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' }));
  return kept.output;
}

function keptFor(schema: OutputSchemaLike): Converted {
  const known = conversions.get(schema);
  if (known !== undefined) return known;
  const kept: Converted = {};
  conversions.set(schema, kept);
  return kept;
}

function withObjectRoot(json: JsonSchema): JsonSchema & { type: 'object' } {
  if (json['type'] !== undefined && json['type'] !== 'object') {
    throw new TypeError(`it describes ${JSON.stringify(json['type'])}, but arguments are an object`);
  }
  return { ...json, type: 'object' };
}

/** Names the type of unions of objects: the legacy era wraps a root that is not said to be an object. */
function withProvenRoot(json: JsonSchema): JsonSchema {
  return json['type'] === undefined && isObject(json, json) ? { type: 'object', ...json } : json;
}

function isObject(json: unknown, root: JsonSchema): boolean {
  if (!isRecord(json)) return false;
  if (json['type'] !== undefined) return json['type'] === 'object';
  const members = json['oneOf'] ?? json['anyOf'] ?? json['allOf'];
  if (Array.isArray(members)) return members.length > 0 && members.every((member) => isObject(member, root));
  const definition = /^#\/\$defs\/([^/~%]+)$/.exec(String(json['$ref']))?.[1];
  const definitions = root['$defs'];
  if (definition === undefined || !isRecord(definitions)) return false;
  const named = definitions[definition];
  return isRecord(named) && named['type'] === 'object';
}

function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
