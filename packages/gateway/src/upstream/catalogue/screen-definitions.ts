import { quoted } from '../../errors.ts';
import type { Era } from '../../protocol/eras.ts';
import { spend, workOff } from '../../wire/slices.ts';
import { KINDS, readItem, type Kind, type Listed, type Listing } from './catalogue.ts';
import { SHAPES } from './definition-shapes.ts';
import { judgeDefinition, type Judged } from './validate-definition.ts';

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
