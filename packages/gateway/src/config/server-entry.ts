import type { ServerConfig } from './config.generated.ts';
import { has } from './findings.ts';

/** What stands behind an entry of the config. */
export const ServerKind = {
  /** A program that is started here. */
  COMMAND: 'command',
  /** A server at an address. */
  REMOTE: 'remote',
  /** A container that is started here. */
  CONTAINER: 'container',
} as const;
export type ServerKind = (typeof ServerKind)[keyof typeof ServerKind];

/** The keys by which each kind is told; a server has keys of one kind only. */
const KEYS_OF_KIND = [
  [ServerKind.COMMAND, ['command']],
  [ServerKind.REMOTE, ['url', 'sseConfig']],
  [ServerKind.CONTAINER, ['image', 'dockerConfig']],
] as const;

/** The kind of a server that has passed validation. */
export function serverKind(server: ServerConfig): ServerKind {
  return serverKinds({ ...server })[0] ?? ServerKind.COMMAND;
}

/** Every kind of which an entry has a key: one, unless the entry is wrong. */
export function serverKinds(entry: Record<string, unknown>): ServerKind[] {
  return KEYS_OF_KIND.filter(([, keys]) => keys.some((key) => has(entry, key))).map(([kind]) => kind);
}

/** Whether the file itself leaves the server out. */
export function isSwitchedOff(entry: { disabled?: unknown; enabled?: unknown }): boolean {
  return entry.disabled === true || entry.enabled === false;
}
