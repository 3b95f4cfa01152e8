import type { Era } from '../protocol/eras.ts';
import type { Listed } from '../upstream/catalogue/catalogue.ts';
import { isLegacyOutputSchema } from '../upstream/catalogue/validate-definition.ts';
import { findMember, readMembers } from '../wire/json/members.ts';
import { changeMembers, type Edit } from '../wire/json/splice.ts';

const NONE: readonly Edit[] = [];
const OUTPUT_SCHEMA = Buffer.from('"outputSchema"');

/** Pages with an output schema somewhere: one search through a page costs less than a look into each tool. */
const hinted = new WeakMap<Buffer, boolean>();

/**
 * Returns the edits that cut out an output schema which only the modern era knows: clients of the earlier one drop the
 * whole list for one that is not of an object.
 */
export function legacyEdits({ era }: { readonly era?: Era }, { page, at }: Listed): readonly Edit[] {
  if (era !== 'modern' || !hasHint(page)) return NONE;
  const tool = readMembers(page, at);
  const m = tool === undefined ? -1 : findMember(tool, 'outputSchema');
  if (tool === undefined || m < 0) return NONE;
  const schema = page.toString('utf8', tool.flat[m + 2], tool.flat[m + 3]);
  return isLegacyOutputSchema(JSON.parse(schema)) ? NONE : changeMembers(tool, ['outputSchema'], '');
}

function hasHint(page: Buffer): boolean {
  const isHinted = hinted.get(page) ?? page.includes(OUTPUT_SCHEMA);
  hinted.set(page, isHinted);
  return isHinted;
}
