import { isDeepStrictEqual } from 'node:util';
import type { ServerConfig } from './config.generated.ts';
import { isSwitchedOff } from './server-kind.ts';
import { withoutLiveKeys } from './tool-lists.ts';

type Servers = Readonly<Record<string, ServerConfig>>;

/** Differences between the servers of two configs, by key. A server that is switched off counts as absent. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They are restarted. */
  readonly changed: readonly string[];
  /** They run on: the entry differs only in its time limit, its name or what it says of the tools. */
  readonly adjusted: readonly string[];
}

/** Both configs with their variables replaced; the order of keys says nothing. */
export function configChanges(before: Servers, after: Servers): ConfigChanges {
  const [old, now] = [enabledKeys(before), enabledKeys(after)];
  const different = now.filter(
    (key) => old.includes(key) && !isDeepStrictEqual(core(before[key]), core(after[key])),
  );
  const isRestarted = (key: string): boolean =>
    !isDeepStrictEqual(withoutLiveKeys(core(before[key])), withoutLiveKeys(core(after[key])));
  return {
    added: now.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !now.includes(key)),
    changed: different.filter(isRestarted),
    adjusted: different.filter((key) => !isRestarted(key)),
  };
}

/** Nothing is to be done. */
export function isNoChange({ added, removed, changed, adjusted }: ConfigChanges): boolean {
  return added.length + removed.length + changed.length + adjusted.length === 0;
}

function enabledKeys(servers: Servers): string[] {
  return Object.keys(servers).filter((key) => !isSwitchedOff(servers[key] ?? {}));
}

/** Without what only says that it is switched on. */
function core({ enabled: _enabled, disabled: _disabled, ...rest }: ServerConfig = {}): object {
  return rest;
}
