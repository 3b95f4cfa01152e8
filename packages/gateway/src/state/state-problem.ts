import { lstatSync, statSync, type Stats } from 'node:fs';
import { isOurs } from '../read-file.ts';

const OTHERS_WRITE = 0o022;
const REMEDY = 'Name another folder with --state or WEIR_STATE.';

/**
 * Says why a state folder is not used: another user may have put a token or a record into it. Undefined for one that is
 * safe or does not exist yet. A folder that others can read is used: each file in it is for its owner alone.
 */
export function stateProblem(folder: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  const problem = lookAt(folder);
  return problem === undefined ? undefined : `The state folder ${folder} is not used: ${problem}`;
}

function lookAt(folder: string): string | undefined {
  try {
    return linkProblem(lstatSync(folder)) ?? folderProblem(folder, statSync(folder));
  } catch {
    // A missing folder is made by the first write; one that cannot be reached fails there, with the reason.
    return undefined;
  }
}

/** Refuses links of other users. Links of root are part of the system. */
function linkProblem(stat: Stats): string | undefined {
  const isForeign = stat.isSymbolicLink() && stat.uid !== 0 && !isOurs(stat);
  return isForeign ? `it is a link of another user (uid ${stat.uid}). ${REMEDY}` : undefined;
}

function folderProblem(folder: string, stat: Stats): string | undefined {
  if (!stat.isDirectory()) return `it is not a folder. ${REMEDY}`;
  if (!isOurs(stat))
    return `it belongs to another user (uid ${stat.uid}; this is ${process.getuid?.()}). Give it to this user with chown, or let Weir make a folder of its own in it: --state ${folder}/weir`;
  if ((stat.mode & OTHERS_WRITE) !== 0)
    return `other users can write to it. Check what it holds, then run: chmod 700 ${folder}`;
  return undefined;
}
