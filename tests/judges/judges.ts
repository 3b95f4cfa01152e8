import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../../scripts/install.mjs';

const folder = dirname(fileURLToPath(import.meta.url));

/** Why there are no judges on this machine, for `verifies.skipIf(noJudges)`; `undefined` where there are. */
export const noJudges: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the judges bring their own Node for linux-x64, this is ${process.platform}-${process.arch}`;

// A test that imports this module uses a judge.
if (noJudges === undefined) ensureInstalled(folder, 'judges for the tests');

/** Executables of other Node releases than the one that runs the tests; `undefined` where there are no judges. */
export const node22: string | undefined = installed('node22/bin/node');
export const node24: string | undefined = installed('node24/bin/node');

/** Scripts, to be run by `node22` or `node24`: neither works on Node 20. */
export const inspectorCli: string | undefined = installed(
  '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
export const conformanceCli: string | undefined = installed(
  '@modelcontextprotocol/conformance/dist/index.js',
);

function installed(path: string): string | undefined {
  return noJudges === undefined ? join(folder, 'node_modules', path) : undefined;
}
