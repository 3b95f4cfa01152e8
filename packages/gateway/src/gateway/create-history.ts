import { History } from '../call/history/history.ts';
import { uuidPrefix } from '../call/history/uuid-prefix.ts';
import type { McpConfig } from '../config/config.generated.ts';
import { redactor } from '../config/redact.ts';
import { Texts } from '../errors.ts';
import type { Log } from '../log.ts';
import { HistoryFiles } from '../state/history-files.ts';
import type { GatewayOptions } from './options.ts';

/** The history of this process; on disk, too, where there is a state folder. */
export function createHistory(
  { state, history, keepResults }: GatewayOptions,
  log: Log,
  config: () => McpConfig,
): History {
  const { pid } = process;
  const now = Date.now;
  const onFailed = (reason: string): void => log.warn(Texts.historyNotKept(reason));
  return new History({
    now,
    prefix: uuidPrefix(Math.random),
    redact: redactor(config),
    keepsArguments: history === 'arguments',
    keepsResults: keepResults,
    sink: state === undefined ? undefined : new HistoryFiles({ state, pid, now, onFailed }),
  });
}
