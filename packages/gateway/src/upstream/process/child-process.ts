import type * as ChildProcesses from 'node:child_process';

/** Loaded with the first process: the first list is answered before one is spawned, and need not wait for it. */
export const childProcess = (): typeof ChildProcesses => process.getBuiltinModule('node:child_process');
