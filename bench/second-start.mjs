// From the second start on the command is compiled already; that is the start that is measured.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { benchServers, createVariants } from './variants.mjs';

const LIMIT_MS = 15_000;

/** Starts the gateway once, in a cache folder of the bench's own; the folder, and how to remove it. */
export async function startOnce(gateway) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-cache-'));
  process.env.XDG_CACHE_HOME = folder;
  const weir = createVariants({ folder, gateway }).find(({ name }) => name === 'weir');
  const { client } = await weir.start(benchServers(10));
  for (const end = Date.now() + LIMIT_MS; !isCompiled(folder) && Date.now() < end;) await delay(100);
  await client.close();
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function isCompiled(folder) {
  try {
    return readdirSync(join(folder, 'weir')).some((name) => !/\.\d+$/.test(name));
  } catch {
    return false;
  }
}
