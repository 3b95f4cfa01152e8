// @ts-check
// Clients that are tried, in the order of the page.
import { BRIDGES } from './clients/bridges.mjs';
import { claudeCode } from './clients/claude-code.mjs';
import { cline } from './clients/cline.mjs';
import { codex } from './clients/codex.mjs';
import { continueCli } from './clients/continue.mjs';
import { copilot } from './clients/copilot.mjs';
import { geminiCli } from './clients/gemini-cli.mjs';
import { inspector } from './clients/inspector.mjs';
import { LIBRARIES } from './clients/libraries.mjs';
import { mcporter } from './clients/mcporter.mjs';
import { opencode } from './clients/opencode.mjs';
import { qwenCode } from './clients/qwen-code.mjs';

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
  opencode,
  'qwen-code': qwenCode,
  copilot,
  continue: continueCli,
  cline,
  inspector,
  mcporter,
  ...LIBRARIES,
  ...BRIDGES,
};

/**
 * Clients on npm that could not be tried, and why; nothing is said of them.
 * @type {readonly { name: string; package: string; version: string; why: string }[]}
 */
export const NOT_TRIED = [
  {
    name: 'Amp',
    package: '@sourcegraph/amp',
    version: '0.0.1790142911-g7618fb',
    why: 'asks to log in before it does anything',
  },
  {
    name: 'Auggie',
    package: '@augmentcode/auggie',
    version: '0.36.0',
    why: 'refuses to start without an account ("No auth provided")',
  },
  {
    name: 'Crush',
    package: '@charmland/crush',
    version: '0.96.1',
    why: 'downloads its program from GitHub when it is installed',
  },
  {
    name: 'Droid',
    package: 'droid',
    version: '0.215.0',
    why: "refuses to start without an account, also with a model of one's own",
  },
  {
    name: 'Kilo Code CLI',
    package: '@kilocode/cli',
    version: '7.8.1',
    why: 'its program for this platform was not on the registry',
  },
  {
    name: 'mcpc',
    package: '@apify/mcpc',
    version: '0.2.6',
    why: 'a dependency (ox 0.14.59) was not on the registry',
  },
  {
    name: 'Claude Desktop, Cursor, VS Code, Windsurf, Zed',
    package: '–',
    version: '–',
    why: 'not on npm: programs with a window',
  },
];
