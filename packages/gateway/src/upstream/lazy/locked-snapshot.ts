import { isRecord } from '../../wire/json/is-record.ts';
import { NO_LISTS, NOTHING, type Kind, type Listed } from '../catalogue/catalogue.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';

/** A server as the lock file has it. */
export interface LockedSnapshot {
  /** Hash of the server's entry in the config. */
  readonly entry: string | undefined;
  /** Hash of the definitions when they were written. */
  readonly hash: string | undefined;
  /** Reads the definitions; returns undefined where they do not match their hash. */
  read(): CatalogueSnapshot | undefined;
}

export type LockedSnapshots = ReadonlyMap<string, LockedSnapshot>;

/** Members of a server by their names, as a parser returns them. */
export type ParsedMembers = ReadonlyMap<string, unknown>;

/** Puts together what a lock file says of a server; returns undefined where a part has the wrong type. */
export function snapshotOf(
  members: ParsedMembers,
  lists: ReadonlyMap<Kind, readonly Listed[]>,
): CatalogueSnapshot | undefined {
  const era = members.get('era');
  const capabilities = members.get('capabilities') ?? {};
  if (!isRecord(capabilities) || (era !== 'legacy' && era !== 'modern')) return undefined;
  const catalogue = { ...NO_LISTS };
  for (const [kind, items] of lists) catalogue[kind] = { ...NOTHING, items };
  return { era, capabilities, instructions: stringIn(members, 'instructions'), catalogue };
}

export function stringIn(members: ParsedMembers, name: string): string | undefined {
  const value = members.get(name);
  return typeof value === 'string' ? value : undefined;
}
