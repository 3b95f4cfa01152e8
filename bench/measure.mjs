// Runs one measure in a process of its own and prints what it found as JSON: `measure.mjs NAME OPTIONS`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MEASURES } from './measures.mjs';
import { createPeer } from './peers.mjs';
import { createVariants } from './variants.mjs';

const [name, options] = process.argv.slice(2);
const { quick, gateway, before, peer: names } = JSON.parse(options);
const measure = MEASURES[name];
const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));

// Exiting properly takes along what was started and written; a kill would not.
process.once('SIGTERM', () => process.exit(1));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const peers = measure.withPeer ? names.map((peer) => createPeer(peer, folder)) : [];
const variants = [...createVariants({ folder, gateway }), ...peers];
const found = await measure.run({ variants, peers, quick, folder, gateway, before });
process.stdout.write(JSON.stringify(found));
