// @ts-check
// Clients that are tried, in the order of the page.
import { aiSdk } from './clients/ai-sdk.mjs';
import { claudeCode } from './clients/claude-code.mjs';
import { codex } from './clients/codex.mjs';
import { geminiCli } from './clients/gemini-cli.mjs';
import { mcporter } from './clients/mcporter.mjs';
import { sdkV1 } from './clients/sdk-v1.mjs';

/**
 * @typedef {object} Client
 * @property {string} name
 * @property {import('./install.mjs').Packages} packages
 * @property {readonly import('./scene.mjs').Transport[]} transports
 * @property {boolean} [needsModel]
 * @property {Partial<Record<keyof import('./seen.mjs').Verdict, string>>} [unable] Columns that the client cannot have, and why.
 * @property {(scene: import('./scene.mjs').Scene) => Promise<import('./seen.mjs').Seen>} run
 */

/** @type {Readonly<Record<string, Client>>} */
export const CLIENTS = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  mcporter,
  'ai-sdk': aiSdk,
  'sdk-v1': sdkV1,
};
