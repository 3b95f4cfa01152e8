import { Texts } from '../errors.ts';
import { SERVER_KINDS, type ServerConfig, type ServerKind } from './config.generated.ts';
import { has } from './findings.ts';

const ALL = Object.keys(SERVER_KINDS) as ServerKind[];

/** Returns the kind of a server that has passed validation. */
export function serverKind(server: ServerConfig): ServerKind {
  return serverKinds(server)[0] ?? 'command';
}

/** Returns every kind of which an entry has a key: one, unless the entry is wrong. */
export function serverKinds(entry: object): ServerKind[] {
  return ALL.filter((kind) => SERVER_KINDS[kind].keys.some((key) => has(entry, key)));
}

/** Returns true where Weir starts something for a server of this kind. */
export function isStarted(kind: ServerKind): boolean {
  return SERVER_KINDS[kind].isStarted;
}

/** Returns the keys that tell the kind of a server, as a sentence names them. */
export function describeKinds(): string {
  return ALL.map((kind) => {
    const [key, ...others] = SERVER_KINDS[kind].keys;
    return others.length === 0 ? key : `${key} (or ${others.join(', ')})`;
  }).join(', ');
}

/** Returns the error about an entry of no kind, which names the first key of each. */
export function missingCommand(): string {
  const [, ...others] = ALL.map((kind) => SERVER_KINDS[kind].keys[0]);
  return Texts.missingCommand(others);
}

/** Returns true where the entry switches the server off. */
export function isSwitchedOff(entry: { disabled?: unknown; enabled?: unknown }): boolean {
  return entry.disabled === true || entry.enabled === false;
}
