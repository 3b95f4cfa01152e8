import { History } from '../call/history/history.ts';
import { uuidPrefix } from '../call/history/uuid-prefix.ts';
import type { McpConfig } from '../config/config.generated.ts';
import { redactor } from '../config/redact.ts';
import { Texts } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Stores } from '../state/stores.ts';
import type { GatewayOptions } from './options.ts';

/** Creates the history of this process, which is on disk, too, where there is a state folder. */
export function createHistory(
  { stores, history, keepResults }: Pick<GatewayOptions, 'history' | 'keepResults'> & { stores: Stores },
  log: Log,
  config: () => McpConfig,
): History {
  const now = Date.now;
  const onFailed = (reason: string): void => log.warn(Texts.historyNotKept(reason));
  return new History({
    now,
    prefix: uuidPrefix(Math.random),
    redact: redactor(config),
    keepsArguments: history === 'arguments',
    keepsResults: keepResults,
    sink: stores.openHistory(onFailed),
  });
}
