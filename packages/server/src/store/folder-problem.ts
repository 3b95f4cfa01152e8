import { lstatSync, statSync, type Stats } from 'node:fs';
import { isOurs } from './read-file.ts';

/** Ways out, as the program of the folder words them. */
export interface FolderRemedies {
  /** A sentence: how another folder is named. */
  readonly another: string;
  /** The rest of a sentence: how a folder within this one is used. */
  readonly within: string;
}

const OTHERS_WRITE = 0o022;

/**
 * Says why a folder must not be used: another user may have put a secret or a record into it. Undefined for one that is
 * safe or does not exist yet. A folder that others can read is used: each file in it is for its owner alone.
 */
export function folderProblem(folder: string, remedies: FolderRemedies): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return linkProblem(lstatSync(folder), remedies) ?? ownerProblem(folder, statSync(folder), remedies);
  } catch {
    // A missing folder is made by the first write; one that cannot be reached fails there, with the reason.
    return undefined;
  }
}

/** Refuses links of other users. Links of root are part of the system. */
function linkProblem(stat: Stats, { another }: FolderRemedies): string | undefined {
  const isForeign = stat.isSymbolicLink() && stat.uid !== 0 && !isOurs(stat);
  return isForeign ? `it is a link of another user (uid ${stat.uid}). ${another}` : undefined;
}

function ownerProblem(folder: string, stat: Stats, { another, within }: FolderRemedies): string | undefined {
  if (!stat.isDirectory()) return `it is not a folder. ${another}`;
  if (!isOurs(stat))
    return `it belongs to another user (uid ${stat.uid}; this is ${process.getuid?.()}). Give it to this user with chown, or ${within}`;
  if ((stat.mode & OTHERS_WRITE) !== 0)
    return `other users can write to it. Check what it holds, then run: chmod 700 ${folder}`;
  return undefined;
}
