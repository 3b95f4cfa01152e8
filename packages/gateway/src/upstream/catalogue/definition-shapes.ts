import type { Era } from '../../protocol/eras.ts';
import type { Kind } from './catalogue.ts';

/** A condition that a value meets; `is` ends the sentence "it is not …". */
interface Check {
  readonly is: string;
  test(value: unknown): boolean;
}

/** An object with members of these shapes; what else it holds is not judged. */
export interface ObjectShape {
  readonly required: readonly (readonly [key: string, shape: Shape])[];
  readonly optional: readonly (readonly [key: string, shape: Shape])[];
  /** Make the JSON texts of required members that are missing, from that of the name or URI. */
  readonly missing: Readonly<Record<string, (keyText: string) => string>>;
}

/** An array with elements of this shape. */
interface ArrayShape {
  readonly each: Shape;
}

export type Shape = Check | ObjectShape | ArrayShape;

interface ShapeMembers {
  readonly required?: Readonly<Record<string, Shape>>;
  readonly optional?: Readonly<Record<string, Shape>>;
  readonly missing?: ObjectShape['missing'];
}

function objectOf({ required = {}, optional = {}, missing = {} }: ShapeMembers): ObjectShape {
  return { required: Object.entries(required), optional: Object.entries(optional), missing };
}

const STRING: Check = { is: 'a string', test: (value) => typeof value === 'string' };
const BOOLEAN: Check = { is: 'a boolean', test: (value) => typeof value === 'boolean' };
// JSON.parse makes Infinity of 1e400, which clients take for no number.
const NUMBER: Check = { is: 'a number', test: (value) => Number.isFinite(value) };
const PRIORITY: Check = {
  is: 'a number from 0 to 1',
  test: (value) => typeof value === 'number' && value >= 0 && value <= 1,
};
const STRINGS: ArrayShape = { each: STRING };
const OBJECT: ObjectShape = objectOf({});

function oneOf(...values: readonly string[]): Check {
  return {
    is: values.map((value) => JSON.stringify(value)).join(' or '),
    test: (value) => typeof value === 'string' && values.includes(value),
  };
}

const TIME =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const TIMESTAMP: Check = {
  is: 'a time like 2026-07-28T12:00:00Z',
  test: (value) => typeof value === 'string' && isDate(TIME.exec(value)?.[1] ?? ''),
};

function isDate(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** Hosts load icons: other schemes would run code or read files there. */
const SAFE_ADDRESS = /^(?:https?|data):/i;
const ICON_ADDRESS: Check = {
  is: 'an http, https or data address',
  test: (value) => typeof value === 'string' && SAFE_ADDRESS.test(value),
};
const ICON: ObjectShape = objectOf({
  required: { src: ICON_ADDRESS },
  optional: { mimeType: STRING, sizes: STRINGS, theme: oneOf('light', 'dark') },
});

/** The schemas of single properties, which are not nested deep. Clients judge the numbers in them, too. */
const PROPERTIES: Check = {
  is: 'an object of schemas',
  test: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((inner) => typeof inner === 'object' && inner !== null) &&
    hasFiniteNumbers(value),
};

function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers);
}

const INPUT_SCHEMA: ObjectShape = objectOf({
  required: { type: oneOf('object') },
  optional: { properties: PROPERTIES, required: STRINGS },
  missing: { type: () => '"object"' },
});

/** Any schema is one in the modern era; before, only that of an object. */
export const OUTPUT_SCHEMA: Readonly<Record<Era, ObjectShape>> = {
  modern: objectOf({ optional: { $schema: STRING } }),
  legacy: objectOf({
    required: { type: oneOf('object') },
    optional: { properties: PROPERTIES, required: STRINGS, $schema: STRING },
  }),
};

const COMMON = { title: STRING, icons: { each: ICON }, description: STRING, _meta: OBJECT } as const;
const ANNOTATIONS: ObjectShape = objectOf({
  optional: {
    audience: { each: oneOf('user', 'assistant') },
    priority: PRIORITY,
    lastModified: TIMESTAMP,
  },
});
const TOOL_ANNOTATIONS: ObjectShape = objectOf({
  optional: {
    title: STRING,
    readOnlyHint: BOOLEAN,
    destructiveHint: BOOLEAN,
    idempotentHint: BOOLEAN,
    openWorldHint: BOOLEAN,
  },
});
const PROMPT_ARGUMENT: ObjectShape = objectOf({
  required: { name: STRING },
  optional: { description: STRING, required: BOOLEAN },
});

function toolShape(era: Era): ObjectShape {
  return objectOf({
    required: { name: STRING, inputSchema: INPUT_SCHEMA },
    optional: {
      ...COMMON,
      outputSchema: OUTPUT_SCHEMA[era],
      annotations: TOOL_ANNOTATIONS,
      execution: objectOf({ optional: { taskSupport: oneOf('required', 'optional', 'forbidden') } }),
    },
    missing: { inputSchema: () => '{"type":"object"}' },
  });
}

const OTHERS = {
  prompts: objectOf({
    required: { name: STRING },
    optional: { ...COMMON, arguments: { each: PROMPT_ARGUMENT } },
  }),
  resources: objectOf({
    required: { uri: STRING, name: STRING },
    optional: { ...COMMON, mimeType: STRING, size: NUMBER, annotations: ANNOTATIONS },
    missing: { name: (uri) => uri },
  }),
  templates: objectOf({
    required: { uriTemplate: STRING, name: STRING },
    optional: { ...COMMON, mimeType: STRING, annotations: ANNOTATIONS },
    missing: { name: (uri) => uri },
  }),
} satisfies Record<Exclude<Kind, 'tools'>, ObjectShape>;

/** By kind and by the era of the server: the members that SDK clients judge. They drop a whole list for one of them. */
export const SHAPES: Readonly<Record<Kind, Readonly<Record<Era, ObjectShape>>>> = {
  tools: { legacy: toolShape('legacy'), modern: toolShape('modern') },
  prompts: { legacy: OTHERS.prompts, modern: OTHERS.prompts },
  resources: { legacy: OTHERS.resources, modern: OTHERS.resources },
  templates: { legacy: OTHERS.templates, modern: OTHERS.templates },
};
