import { snapshotLines, type CatalogueSnapshot } from './catalogue-snapshot.ts';

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
