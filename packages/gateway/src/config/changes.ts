import { isDeepStrictEqual } from 'node:util';
import type { ServerConfig } from './config.generated.ts';
import { isSwitchedOff } from './server-entry.ts';

type Servers = Readonly<Record<string, ServerConfig>>;

/** What another config makes of the servers of the last one, by key. A server that is switched off is as good as none. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Both configs with their variables replaced; the order of keys says nothing. */
export function configChanges(before: Servers, after: Servers): ConfigChanges {
  const [old, now] = [meant(before), meant(after)];
  return {
    added: now.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !now.includes(key)),
    changed: now.filter(
      (key) => old.includes(key) && !isDeepStrictEqual(core(before[key]), core(after[key])),
    ),
  };
}

/** Nothing is to be done. */
export function isNoChange({ added, removed, changed }: ConfigChanges): boolean {
  return added.length + removed.length + changed.length === 0;
}

function meant(servers: Servers): string[] {
  return Object.keys(servers).filter((key) => !isSwitchedOff(servers[key] ?? {}));
}

/** Without what only says that it is switched on. */
function core({ enabled: _enabled, disabled: _disabled, ...rest }: ServerConfig = {}): object {
  return rest;
}
