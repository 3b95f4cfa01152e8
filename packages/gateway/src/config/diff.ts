import { isDeepStrictEqual } from 'node:util';
import { LIVE_KEYS, type ServerConfig } from './config.generated.ts';
import { isSwitchedOff } from './server-kind.ts';

/** Validated entries of servers, by key. */
export type ServerConfigs = Readonly<Record<string, ServerConfig>>;

/** Differences between the servers of two configs, by key. A server that is switched off counts as absent. */
export interface ConfigChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They are restarted. */
  readonly changed: readonly string[];
  /** They run on: the entry differs only in live keys. */
  readonly adjusted: readonly string[];
}

/** Both configs with their variables replaced; the order of keys says nothing. */
export function configChanges(before: ServerConfigs, after: ServerConfigs): ConfigChanges {
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

/** Says which servers and groups another config has changed. */
export function describeChanges(
  { added, removed, changed, adjusted }: ConfigChanges,
  groups: readonly string[],
): string {
  const parts = Object.entries({
    added,
    changed,
    'changed without a restart': adjusted,
    removed,
    'groups changed': groups,
  })
    .filter(([, keys]) => keys.length > 0)
    .map(([what, keys]) => `${what}: ${keys.join(', ')}`);
  return `Config reloaded; ${parts.join('; ') || 'no server has changed'}`;
}

/** Nothing is to be done. */
export function isNoChange({ added, removed, changed, adjusted }: ConfigChanges): boolean {
  return added.length + removed.length + changed.length + adjusted.length === 0;
}

function enabledKeys(servers: ServerConfigs): string[] {
  return Object.keys(servers).filter((key) => !isSwitchedOff(servers[key] ?? {}));
}

/** Without what only says that it is switched on. */
function core({ enabled: _enabled, disabled: _disabled, ...rest }: ServerConfig = {}): object {
  return rest;
}

/** Returns what of an entry decides how its server runs. */
export function withoutLiveKeys<Entry extends object>(entry: Entry): Partial<Entry> {
  if (!Object.keys(entry).some((key) => LIVE_KEYS.has(key))) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !LIVE_KEYS.has(key))) as Partial<Entry>;
}
