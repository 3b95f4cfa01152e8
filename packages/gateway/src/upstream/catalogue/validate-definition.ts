import { quoted } from '../../errors.ts';
import type { Era } from '../../protocol/eras.ts';
import { findMember, hasAmbiguousKeys, readElements, readMembers } from '../../wire/json/members.ts';
import { changeMembers, lineBytes, splice, type Edit } from '../../wire/json/splice.ts';
import { isRecord, isShallow } from '../../wire/json/value-checks.ts';
import { spend, workOff } from '../../wire/slices.ts';
import { definitionOf, type Listed, KINDS, type Kind, type Listing } from './catalogue.ts';
import { OUTPUT_SCHEMA, type ObjectShape, type Shape, SHAPES } from './definition-shapes.ts';
import { readItem } from './read-list.ts';

/** Validation on a definition. */
export type Judged =
  | { readonly fate: 'kept'; readonly faults: readonly string[] }
  | { readonly fate: 'changed'; readonly definition: Buffer; readonly faults: readonly string[] }
  | { readonly fate: 'left-out'; readonly faults: readonly string[] };

const KEPT: Judged = { fate: 'kept', faults: [] };

/** Change of one member of an object, with which clients take the definition. */
interface Change {
  /** The way to the object, from the definition. */
  readonly path: readonly (string | number)[];
  readonly key: string;
  /** JSON text that takes the place of the member; without one the member is cut out. */
  readonly text?: string;
  /** A fault, in words; none for a member that is null, as some servers write what is not there. */
  readonly fault?: string;
}

interface Validation {
  readonly changes: readonly Change[];
  /** Fault that no change mends, in words. */
  readonly fault?: string;
}

/** Bytes of one definition. Hosts give definitions to models, whose whole context holds less. To parse them takes 10 ms. */
const LARGEST = 1024 * 1024;
/** Changes of one definition: to find each place takes time that grows with the definition. */
const MOST_CHANGES = 100;

const CLEAN: Validation = { changes: [] };

/**
 * Judges a definition as clients do, which drop a whole list for one member. Optional members that they would refuse are
 * cut out; with a required one the definition is left out. Faults are sentences about the definition.
 */
export function judgeDefinition(item: Listed, shape: ObjectShape): Judged {
  const definition = definitionOf(item);
  if (definition.length > LARGEST) return leftOut(`it is larger than ${LARGEST} bytes`);
  const value: unknown = JSON.parse(definition.toString('utf8'));
  if (!isShallow(value)) return leftOut('it is nested too deep');
  if (fits(value, shape)) return KEPT;
  const keyText = item.page.toString('latin1', item.keyAt, item.keyEnd);
  const { changes, fault } = judge(value, shape, keyText);
  if (fault !== undefined) return leftOut(fault);
  if (changes.length > MOST_CHANGES) return leftOut('it has too many members that clients refuse');
  const edited = apply(definition, changes);
  if (edited === undefined || !fits(JSON.parse(edited.toString('utf8')), shape))
    return leftOut('a key in it is written twice or with escapes, beside members that clients refuse');
  return { fate: 'changed', definition: edited, faults: changes.flatMap((change) => change.fault ?? []) };
}

function leftOut(fault: string): Judged {
  return { fate: 'left-out', faults: [fault] };
}

/** Returns true for an output schema that clients of the earlier era take. */
export function isLegacyOutputSchema(schema: unknown): boolean {
  return fits(schema, OUTPUT_SCHEMA.legacy);
}

/** Makes nothing, because nearly all definitions fit. */
function fits(value: unknown, shape: Shape): boolean {
  if ('test' in shape) return shape.test(value);
  if ('each' in shape) return Array.isArray(value) && value.every((element) => fits(element, shape.each));
  if (!isRecord(value)) return false;
  return (
    shape.required.every(([key, inner]) => fits(value[key], inner)) &&
    shape.optional.every(([key, inner]) => value[key] === undefined || fits(value[key], inner))
  );
}

/** Finds what has to change where a value does not fit. */
function judge(value: unknown, shape: Shape, keyText: string, name = ''): Validation {
  if ('test' in shape) return shape.test(value) ? CLEAN : fatal(`its ${name} is not ${shape.is}`);
  if ('each' in shape)
    return Array.isArray(value)
      ? all(
          value.map((element, index) =>
            within(index, judge(element, shape.each, keyText, `${name}[${index}]`)),
          ),
        )
      : fatal(`its ${name} is not an array`);
  if (!isRecord(value)) return fatal(`its ${name} is not an object`);
  const nameOf = (key: string): string => (name === '' ? key : `${name}.${key}`);
  const required = shape.required.map(([key, inner]) => {
    const text = (value[key] ?? undefined) === undefined ? shape.missing[key]?.(keyText) : undefined;
    if (text !== undefined) return changed({ path: [], key, text, fault: `it has no ${nameOf(key)}` });
    return within(key, judge(value[key], inner, keyText, nameOf(key)));
  });
  const optional = shape.optional.map(([key, inner]) => {
    if (!Object.hasOwn(value, key)) return CLEAN;
    if (value[key] === null) return changed({ path: [], key });
    const outcome = judge(value[key], inner, keyText, nameOf(key));
    return outcome.fault === undefined
      ? within(key, outcome)
      : changed({ path: [], key, fault: outcome.fault });
  });
  return all([...required, ...optional]);
}

function fatal(fault: string): Validation {
  return { changes: [], fault };
}

function changed(change: Change): Validation {
  return { changes: [change] };
}

function all(outcomes: readonly Validation[]): Validation {
  if (outcomes.every((outcome) => outcome === CLEAN)) return CLEAN;
  const fault = outcomes.find((outcome) => outcome.fault !== undefined)?.fault;
  return { changes: outcomes.flatMap(({ changes }) => changes), ...(fault !== undefined && { fault }) };
}

/** The same outcome, seen from the object or array that holds the value. */
function within(key: string | number, outcome: Validation): Validation {
  if (outcome.changes.length === 0) return outcome;
  const changes = outcome.changes.map((change) => ({ ...change, path: [key, ...change.path] }));
  return { ...outcome, changes };
}

/** Returns undefined where the bytes of a changed object may mean something else than a parser takes them for. */
function apply(definition: Buffer, changes: readonly Change[]): Buffer | undefined {
  const edits: Edit[] = [];
  for (const group of byObject(changes)) {
    const at = locate(definition, group[0]?.path ?? []);
    const members = at === undefined ? undefined : readMembers(definition, at);
    if (members === undefined || hasAmbiguousKeys(members)) return undefined;
    const added = group.flatMap(({ key, text }) => (text === undefined ? [] : [`"${key}":${text}`]));
    edits.push(
      ...changeMembers(
        members,
        group.map(({ key }) => key),
        added.join(','),
      ),
    );
  }
  return lineBytes(splice(definition, edits));
}

/** Groups changes of the same object. */
function byObject(changes: readonly Change[]): Iterable<Change[]> {
  const groups = new Map<string, Change[]>();
  for (const change of changes) {
    const path = JSON.stringify(change.path);
    groups.set(path, [...(groups.get(path) ?? []), change]);
  }
  return groups.values();
}

function locate(definition: Buffer, path: Change['path']): number | undefined {
  let at: number | undefined = 0;
  for (const key of path) {
    if (at === undefined) return undefined;
    at = typeof key === 'number' ? readElements(definition, at)?.[2 * key] : valueAt(definition, at, key);
  }
  return at;
}

function valueAt(definition: Buffer, at: number, key: string): number | undefined {
  const members = readMembers(definition, at);
  return members?.flat[findMember(members, key) + 2];
}

/** Definitions of one list that are named in the log: a hostile list may have thousands. */
const MOST_NAMED = 10;

export interface ScreeningOptions {
  readonly kind: Kind;
  /** The era of the server. */
  readonly era: Era;
  readonly warn: (text: string) => void;
}

/** Leaves out of a list, or changes, the definitions for which clients would drop the whole list. */
export async function screenDefinitions(
  listing: Listing,
  { kind, era, warn }: ScreeningOptions,
): Promise<Listing> {
  const shape = SHAPES[kind][era];
  const items: Listed[] = [];
  let faulty = 0;
  const each = (item: Listed): void => {
    const judged = judgeDefinition(item, shape);
    spend(0, item.end - item.at);
    const usable = judged.fate === 'changed' ? readItem(judged.definition, KINDS[kind].key) : item;
    if (judged.fate !== 'left-out' && usable !== undefined) items.push(usable);
    if (judged.faults.length > 0 && ++faulty <= MOST_NAMED) warn(describe(kind, item, judged));
  };
  await new Promise<void>((done, failed) => workOff('definitions', listing.items, { each, done, failed }));
  if (faulty > MOST_NAMED)
    warn(`${faulty - MOST_NAMED} more of its ${kind} are left out or changed for such reasons`);
  return { ...listing, items };
}

function describe(kind: Kind, { key }: Listed, { fate, faults }: Judged): string {
  const subject = `${kind.slice(0, -1)} ${JSON.stringify(quoted(key))}`;
  const what = fate === 'left-out' ? 'is left out' : 'is listed in another form';
  return `${subject} ${what}, because clients would drop the whole list: ${faults.join(', ')}`;
}
