// What is compared: the same tools, served by a program for each library. Which eras each speaks was tried, not read.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, isInstalled } from '../../scripts/install.mjs';

const LIBRARIES = fileURLToPath(new URL('libraries', import.meta.url));
const variant = (name) => fileURLToPath(new URL(`variants/${name}.mjs`, import.meta.url));
const library = (name) => join(LIBRARIES, `${name}.mjs`);

export const OURS = '@weir/server';
export const SDK = 'plain SDK';
export const SDK_INSIDE = 'plain SDK, schemas made inside';
export const SDK_SESSIONS = 'plain SDK, sessions';
export const ERAS = { modern: '2026-07-28', legacy: '2025-11-25' };
const MCP_Z = '@mcp-z/server';
const BOTH = ['modern', 'legacy'];

const CONTESTANTS = [
  { name: OURS, eras: BOTH, command: [variant('weir')] },
  { name: SDK, eras: BOTH, command: [variant('sdk')], registersEachTime: true },
  // So expensive that few calls have to do.
  { name: SDK_INSIDE, eras: BOTH, command: [variant('sdk'), '--inside'], isSlow: true },
  { name: SDK_SESSIONS, eras: ['legacy'], command: [variant('sdk'), '--sessions'], onlyHttp: true },
  { name: 'fastmcp', eras: ['legacy'], command: [library('fastmcp')], isLibrary: true },
  { name: MCP_Z, eras: BOTH, command: [library('mcp-z')], isLibrary: true, registersEachTime: true },
];

/** The tests do without the rows that cost most time and are compared in the long run, and without what is not installed. */
export function contestants({ quick }) {
  if (!quick) ensureInstalled(LIBRARIES, 'the libraries that are compared, from npm');
  const left = quick ? [SDK_INSIDE, SDK_SESSIONS, MCP_Z] : [];
  const hasThem = hasLibraries();
  return CONTESTANTS.filter(({ name, isLibrary = false }) => !left.includes(name) && (hasThem || !isLibrary));
}

export const hasLibraries = () => isInstalled(LIBRARIES);
