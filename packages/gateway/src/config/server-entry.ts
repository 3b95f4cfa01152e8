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
  { kind: ServerKind.COMMAND, keys: ['command'] },
  { kind: ServerKind.REMOTE, keys: ['url', 'sseConfig'] },
  { kind: ServerKind.CONTAINER, keys: ['image', 'dockerConfig'] },
] as const;

/** The kind of a server that has passed validation. */
export function serverKind(server: ServerConfig): ServerKind {
  return serverKinds(server)[0] ?? ServerKind.COMMAND;
}

/** Every kind of which an entry has a key: one, unless the entry is wrong. */
export function serverKinds(entry: object): ServerKind[] {
  const found: ServerKind[] = [];
  for (const { kind, keys } of KEYS_OF_KIND) if (keys.some((key) => has(entry, key))) found.push(kind);
  return found;
}

/** Whether the file itself leaves the server out. */
export function isSwitchedOff(entry: { disabled?: unknown; enabled?: unknown }): boolean {
  return entry.disabled === true || entry.enabled === false;
}
