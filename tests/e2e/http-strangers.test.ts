// Clients of 2026-07-28 have no sessions and may have the same token: still each of them is another program.
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { fixture, scripted, temporaryFolder, textOf, type Json } from './harness.ts';
import { begin, modern, send, serveTest } from './http.ts';

/** `first` asks once `second` has been called; `ready` is answered when `first` has come. */
const asks = scripted(`
  import { ask, serve, text, tool } from 'stdio';
  const come = {};
  const first = new Promise((resolve) => (come.first = resolve));
  const second = new Promise((resolve) => (come.second = resolve));
  serve({ name: 'asks', tools: [tool('first'), tool('second'), tool('ready')], call: {
    first: async () => {
      come.first();
      await second;
      const { error } = await ask('elicitation/create', { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } });
      return text(error ? 'refused' : 'answered');
    },
    second: () => {
      come.second();
      return new Promise((resolve) => setTimeout(() => resolve(text('untouched')), 300));
    },
    ready: () => first.then(() => text('ready')),
  } });
`);

const call = (name: string, capabilities: Json, more: Json = {}): ReturnType<typeof modern> =>
  modern('tools/call', { name, arguments: {}, ...more }, { capabilities });

describe('two modern clients with one token', () => {
  for (const sharing of ['shared', 'per-session'] as const)
    verifies('ERA-2', `are not asked what belongs to the other one's call (${sharing})`, async () => {
      await using test = await serveTest({ a: { ...asks, sharing } });
      const capabilities = { elicitation: { form: {} } };
      const hangUp = begin(test.url, call('a:first', capabilities));
      await send(test.url, call('a:ready', capabilities));
      const { text } = await send(test.url, call('a:second', capabilities));
      hangUp();
      expect(text).not.toContain('Your password?');
    });

  verifies('ERA-2', 'have servers of their own in folders of their own', async () => {
    await using test = await serveTest({
      e: { ...fixture('environment'), sharing: 'per-session', cwdFromRoots: true },
    });
    const folderFor = async (folder: string): Promise<unknown> => {
      const capabilities = { roots: {} };
      const { json } = await send(test.url, call('e:folder', capabilities));
      const [key] = Object.keys((json.result as { inputRequests?: Json }).inputRequests ?? {});
      if (key === undefined) return JSON.parse(textOf(json));
      const inputResponses = { [key]: { roots: [{ uri: pathToFileURL(folder).href }] } };
      return JSON.parse(
        textOf((await send(test.url, call('e:folder', capabilities, { inputResponses }))).json),
      );
    };
    const [mine, yours] = [realpathSync(temporaryFolder()), realpathSync(temporaryFolder())];
    expect(await folderFor(mine)).toBe(mine);
    expect(await folderFor(yours)).toBe(yours);
  });
});
