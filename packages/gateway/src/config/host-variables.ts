import { basename, dirname, relative, resolve, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders in which hosts keep the files of a user rather than those of a project. */
const USER_FOLDERS: ReadonlySet<string> = new Set(['Library', 'AppData']);

/** Returns what other hosts call the folders around a config file; a variable of the environment counts for more. */
export function hostVariables(path: string | undefined, env: Environment): Record<string, string> {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const workspace = path === undefined ? undefined : workspaceOf(resolve(path), home);
  return {
    pathSeparator: sep,
    '/': sep,
    ...(home !== undefined && { userHome: home }),
    ...(workspace !== undefined && {
      workspaceFolder: workspace,
      workspaceFolderBasename: basename(workspace),
    }),
  };
}

/** The folder of the file, or the one around it where it is a host's own, such as `.vscode`; undefined in the user's own files. */
function workspaceOf(path: string, home = ''): string | undefined {
  const folder = dirname(path);
  const workspace = basename(folder).startsWith('.') ? dirname(folder) : folder;
  if (home === '') return workspace;
  const steps = relative(home, workspace).split(sep);
  if (steps[0] === '..') return workspace;
  const isOfUser = steps.some((step) => step === '' || step.startsWith('.') || USER_FOLDERS.has(step));
  return isOfUser ? undefined : workspace;
}
