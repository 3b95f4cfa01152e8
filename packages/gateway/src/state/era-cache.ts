import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortHash } from '../hash.ts';
import type { Era } from '../protocol/eras.ts';
import { OWN_FILE, readWhole } from '../read-file.ts';
import { makeFolder } from './make-folder.ts';
import { removeFile } from './remove-file.ts';

/** What earlier starts found out about the era that a command speaks. */
export interface EraCache {
  recall(command: string, args: readonly string[]): Era | undefined;
  remember(command: string, args: readonly string[], era: Era): void;
}

/** A server may be replaced by a newer one under the same command. */
const LASTS_MS = 7 * 24 * 60 * 60 * 1000;

export const noVerdicts: EraCache = { recall: () => undefined, remember: () => {} };

/** Keeps one small file a command. A folder that cannot be used means starting without memory, nothing worse. */
export function eraCacheIn(folder: string, now: () => number = Date.now): EraCache {
  const fileFor = (command: string, args: readonly string[]): string =>
    join(folder, 'eras', shortHash(JSON.stringify([command, ...args])));
  return {
    recall: (command, args) => read(fileFor(command, args), now()),
    remember(command, args, era) {
      const file = fileFor(command, args);
      if (read(file, now()) !== era) write(file, `${JSON.stringify({ era, at: now() })}\n`);
    },
  };
}

function read(file: string, now: number): Era | undefined {
  try {
    const { era, at } = JSON.parse(readWhole(file, OWN_FILE).toString('utf8')) as {
      era?: unknown;
      at?: unknown;
    };
    const isFresh = typeof at === 'number' && at <= now && now - at < LASTS_MS;
    return isFresh && (era === 'legacy' || era === 'modern') ? era : undefined;
  } catch {
    return undefined;
  }
}

/** Readers see the old file or the new one, never half of one. */
function write(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, file);
  } catch {
    removeFile(fresh);
  }
}
