#!/usr/bin/env node
// @ts-check
// `npm start`: the command as it is shipped, over a few small servers, until Ctrl-C. More options may follow: `npm start -- --port 0`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './steps.mjs';

const bundle = join(root, 'packages', 'cli', 'dist', 'weir.cjs');
process.argv = [process.execPath, bundle, 'serve', '--demo', ...process.argv.slice(2)];
await import(pathToFileURL(bundle).href);
