import type { Era } from '../../protocol/eras.ts';
import { canonicalJson } from '../../wire/json/canonical-json.ts';
import {
  ALL_KINDS,
  definitionOf,
  listedKinds,
  type Catalogue,
  type Kind,
  type Listed,
  type Listing,
} from '../catalogue/catalogue.ts';

/** Era, capabilities and lists of a server, for answers while it does not run. */
export interface CatalogueSnapshot {
  readonly era: Era;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
  readonly catalogue: Catalogue;
}

/** Its lines in JSON, without braces: one for each definition, all in one order, whatever order the server has. */
export function snapshotLines(
  { era, capabilities, instructions, catalogue }: CatalogueSnapshot,
  indent = '',
): string {
  const members = [
    `"era":${JSON.stringify(era)}`,
    `"capabilities":${canonicalJson(Buffer.from(JSON.stringify(capabilities)))}`,
    ...(instructions === undefined ? [] : [`"instructions":${JSON.stringify(instructions)}`]),
    ...listedKinds(catalogue).map(
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

/** The kinds of which two offerings list different things. */
export function differingKinds(
  one: CatalogueSnapshot['catalogue'],
  other: CatalogueSnapshot['catalogue'],
): Kind[] {
  return ALL_KINDS.filter((kind) => !meanTheSame(one[kind], other[kind]));
}

/** Bytes of definitions that are compared by their meaning. More than that counts as different: a server may list what it likes. */
const MOST_COMPARED: number = 512 * 1024;

/** Compares bytes first: only what comes from a lock file is written in another way. The order makes no difference. */
function meanTheSame(one: Listing, other: Listing): boolean {
  if (one.items.length !== other.items.length) return false;
  const others = new Map(other.items.map((item) => [item.key, definitionOf(item)]));
  let left = MOST_COMPARED;
  return one.items.every((item) => {
    const [mine, its] = [definitionOf(item), others.get(item.key)];
    if (its === undefined || mine.equals(its)) return its !== undefined;
    left -= mine.length + its.length;
    return left >= 0 && canonicalJson(mine) === canonicalJson(its);
  });
}

export function isSameSnapshot(one: CatalogueSnapshot, other: CatalogueSnapshot): boolean {
  const head = ({ era, capabilities, instructions = '' }: CatalogueSnapshot): string =>
    canonicalJson(Buffer.from(JSON.stringify([era, capabilities, instructions])));
  return head(one) === head(other) && differingKinds(one.catalogue, other.catalogue).length === 0;
}

/** Loads cryptography when it is first used: a start without a lock file does without. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** Returns the hash of a text as lock files have it. */
export function textHash(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return `sha256-${crypto().createHash('sha256').update(text, encoding).digest('base64')}`;
}

/** Returns the hash of everything that a server offers; neither the order nor the layout of its definitions counts. */
export function snapshotHash(snapshot: CatalogueSnapshot): string {
  return textHash(snapshotLines(snapshot));
}
