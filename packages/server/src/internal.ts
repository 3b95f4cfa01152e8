// Parts that the gateway shares with this package. Other programs do without: these may change in any version.
export { folderProblem } from './store/folder-problem.ts';
export { hex } from './store/hex.ts';
export { isAlive } from './store/is-alive.ts';
export { GIVEN_FILE, STATE_FILE, readWhole } from './store/read-file.ts';
export { makeFolder } from './store/replace-file.ts';
