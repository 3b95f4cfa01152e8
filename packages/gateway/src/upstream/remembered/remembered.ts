import { canonicalJson } from '../../wire/canonical-json.ts';
import type { Era } from '../../wire/era.ts';
import { findMember, readMembers, stringValue, type Members } from '../../wire/members.ts';
import {
  ALL_KINDS,
  definitionOf,
  KINDS,
  readItems,
  type Kind,
  type Listed,
  type Listing,
} from '../catalogue.ts';

/** What a server offers, as it can be told without it. */
export interface Offering {
  readonly era: Era;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
  readonly catalogue: Readonly<Record<Kind, Listing>>;
}

/** Its lines in JSON, without braces: one for each definition, all in one order, whatever order the server has. */
export function offeringLines({ era, capabilities, instructions, catalogue }: Offering, indent = ''): string {
  const members = [
    `"era":${JSON.stringify(era)}`,
    `"capabilities":${canonicalJson(Buffer.from(JSON.stringify(capabilities)))}`,
    ...(instructions === undefined ? [] : [`"instructions":${JSON.stringify(instructions)}`]),
    ...ALL_KINDS.filter((kind) => catalogue[kind].items.length > 0).map(
      (kind) => `"${kind}":[\n${definitions(catalogue[kind], `${indent}  `)}\n${indent}]`,
    ),
  ];
  return members.map((member) => `${indent}${member}`).join(',\n');
}

function definitions({ items }: Listing, indent: string): string {
  return canonicalDefinitions(items)
    .map((definition) => `${indent}${definition}`)
    .join(',\n');
}

/** Sorted by what they are called. */
function canonicalDefinitions(items: readonly Listed[]): string[] {
  return [...items]
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map((item) => canonicalJson(definitionOf(item)));
}

/** The other direction, from an object among whose members those are; undefined where something else stands there. */
export function readOffering(members: Members): Offering | undefined {
  const era = stringValue(members, 'era');
  if (era !== 'legacy' && era !== 'modern') return undefined;
  const lists = ALL_KINDS.map((kind) => [kind, readListing(members, kind)] as const);
  return {
    era,
    capabilities: jsonIn(members, 'capabilities') ?? {},
    instructions: stringValue(members, 'instructions'),
    catalogue: Object.fromEntries(lists) as Record<Kind, Listing>,
  };
}

/** May be asked for again at once: it may turn out different. */
function readListing(members: Members, kind: Kind): Listing {
  const m = findMember(members, kind);
  const found = m < 0 ? undefined : readItems(members.bytes, members.flat[m + 2] as number, KINDS[kind].key);
  const items = (found?.items ?? []).filter((item) => item !== undefined);
  return { items, ttlMs: 0, cacheScope: 'private' };
}

function jsonIn(members: Members, key: string): Record<string, unknown> | undefined {
  const m = findMember(members, key);
  if (m < 0) return undefined;
  return JSON.parse(members.bytes.toString('utf8', members.flat[m + 2], members.flat[m + 3])) as Record<
    string,
    unknown
  >;
}

/** The kinds of which two offerings list different things. */
export function differingKinds(one: Offering['catalogue'], other: Offering['catalogue']): Kind[] {
  return ALL_KINDS.filter(
    (kind) =>
      canonicalDefinitions(one[kind].items).join('\n') !== canonicalDefinitions(other[kind].items).join('\n'),
  );
}

/** The members of a JSON text over several lines: outside of strings, which hold none, breaks are but space. */
export function readText(bytes: Buffer): Members | undefined {
  const line = Buffer.from(bytes);
  for (let at = line.indexOf(10); at >= 0; at = line.indexOf(10, at)) line[at] = 0x20;
  const end = line.toString('latin1').trimEnd().length;
  const members = readMembers(line, 0);
  return members !== undefined && members.end === end ? members : undefined;
}
