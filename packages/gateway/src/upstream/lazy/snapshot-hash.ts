import { snapshotLines, type CatalogueSnapshot } from './catalogue-snapshot.ts';
import type { LockedSnapshot } from './read-lock.ts';

/** Loaded when first used: a start without a lock file, or with a copy of it, needs no cryptography. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** Returns the hash of a text as lock files have it. */
export function textHash(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return `sha256-${crypto().createHash('sha256').update(text, encoding).digest('base64')}`;
}

/** Line ends of a lock file, also as Windows has them, and the indent of what stands below a server. */
const INDENTED = /\r?\n {6}/gu;

/**
 * Returns whether a server's part of a lock file is what it was written with. Its text is compared first: to bring the
 * definitions of 30 servers into one layout takes as long as all else that a start does.
 */
export function matchesHash({ hash, text, snapshot }: LockedSnapshot): boolean {
  return (
    hash === textHash(text.toString('latin1').replace(INDENTED, '\n'), 'latin1') ||
    hash === snapshotHash(snapshot)
  );
}

/** Returns the hash of everything that a server offers; neither the order nor the layout of its definitions counts. */
export function snapshotHash(snapshot: CatalogueSnapshot): string {
  return textHash(snapshotLines(snapshot));
}
