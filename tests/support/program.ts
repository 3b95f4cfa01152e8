// A small program that embeds the gateway, bundled from the sources so that plain Node runs it.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { temporaryFolder } from './harness.ts';

/** Bundles a program whose `@weir/gateway` is made of the sources; returns its file. */
export async function bundleProgram(text: string): Promise<string> {
  const outfile = join(temporaryFolder(), 'program.mjs');
  await build({
    stdin: { contents: text, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@weir/source'],
    logLevel: 'silent',
    outfile,
  });
  return outfile;
}
