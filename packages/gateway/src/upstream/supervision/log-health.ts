import { Texts } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { duration } from '../../time/clock.ts';
import type { Timers } from '../../time/schedule.ts';
import { isAwaited, type Health, type HealthEvent, type SupervisionRules } from './health.ts';

export interface HealthChange {
  readonly serverKey: string;
  readonly event: HealthEvent;
  readonly health: Health;
  readonly before: Health;
}

export interface HealthLogOptions {
  readonly log: Log;
  readonly timers: Timers;
  readonly rules: SupervisionRules;
  /** Name of the command in hints. */
  readonly commandName: string;
}

/** Logs a change of a server's health, in as many words as its user needs. */
export function logHealth(change: HealthChange, options: HealthLogOptions): void {
  const { serverKey, event, before } = change;
  const { log } = options;
  if (event.type === 'lost') return logLoss(change, event.reason, options);
  if (event.type === 'connected' && isAwaited(before))
    return log.info(`Server '${serverKey}' is reachable again and enabled`);
  if (event.type === 'connected' && before.isRetrying)
    return log.info(`Server '${serverKey}' is running again`);
  if (event.type === 'enabled') return log.info(`Server '${serverKey}' has been enabled`);
  if (event.type === 'disabled') return log.info(`Server '${serverKey}' has been disabled`);
  log.debug?.(`[${serverKey}] ${event.type}`);
}

/** Logs the whole reason once; a server that fails again for the same reason gets one line. */
function logLoss(change: HealthChange, reason: string, options: HealthLogOptions): void {
  const { serverKey, health, before } = change;
  const { log, timers, rules } = options;
  if (isAwaited(before) && isAwaited(health))
    return log.debug?.(`Server '${serverKey}' still cannot be reached: ${reason}`);
  const isRepeated = before.isRetrying && isSameReason(before.lastError ?? '', reason);
  if (!isRepeated) log.error(reason);
  if (health.autoDisabled) return log.error(autoDisabledText(serverKey, health, options));
  const again = `tried again in ${duration((health.nextRetryAt ?? 0) - timers.now())} (attempt ${health.failureCount + 1} of ${rules.backOffMs.length})`;
  log.warn(
    isRepeated
      ? `Server '${serverKey}' failed again for the same reason; it is ${again}`
      : `Server '${serverKey}' is ${again}`,
  );
}

function autoDisabledText(
  serverKey: string,
  health: Health,
  { rules: { backOffMs, reachEveryMs }, commandName }: HealthLogOptions,
): string {
  const attempts = backOffMs.length;
  return isAwaited(health)
    ? Texts.unreachable(serverKey, { attempts, every: duration(reachEveryMs), commandName })
    : Texts.autoDisabled(serverKey, attempts, commandName);
}

/** Compares two reasons without their numbers: times, ports and process ids differ from start to start. */
function isSameReason(one: string, other: string): boolean {
  return withoutNumbers(one) === withoutNumbers(other);
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/[\da-f]*\d[\da-f]*/giu, '#');
}
