import type { ServerConfig } from './config.generated.ts';
import { has } from './findings.ts';

export const ServerKind = {
  /** A program that is started here. */
  COMMAND: 'command',
  /** A server at an address. */
  REMOTE: 'remote',
  /** A container that is started here. */
  CONTAINER: 'container',
} as const;
export type ServerKind = (typeof ServerKind)[keyof typeof ServerKind];

/** The kind of a server that has passed validation. */
export function serverKind(server: ServerConfig): ServerKind {
  return serverKinds(server)[0] ?? ServerKind.COMMAND;
}

/** Every kind of which an entry has a key: one, unless the entry is wrong. */
export function serverKinds(entry: object): ServerKind[] {
  const found: ServerKind[] = [];
  if (has(entry, 'command')) found.push(ServerKind.COMMAND);
  if (has(entry, 'url') || has(entry, 'sseConfig')) found.push(ServerKind.REMOTE);
  if (has(entry, 'image') || has(entry, 'dockerConfig')) found.push(ServerKind.CONTAINER);
  return found;
}

/** Returns true where the entry switches the server off. */
export function isSwitchedOff(entry: { disabled?: unknown; enabled?: unknown }): boolean {
  return entry.disabled === true || entry.enabled === false;
}
