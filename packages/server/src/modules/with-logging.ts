import { performance } from 'node:perf_hooks';
import type { Logger } from '../logger.ts';
import { type AnyModule, labelOf, wrapHandler } from './wrap-handler.ts';

export interface LoggingOptions {
  readonly logger: Logger;
  /** Logs the arguments too. They may hold passwords and personal data, so they are left out by default. */
  readonly withArguments?: boolean;
  /** Clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Logs name, duration and outcome of each call of a module. Without a module, returns a function that wraps one. */
export function withLogging<Module extends AnyModule>(module: Module, options: LoggingOptions): Module;
export function withLogging(options: LoggingOptions): <Module extends AnyModule>(module: Module) => Module;
export function withLogging<Module extends AnyModule>(
  ...given: [module: Module, options: LoggingOptions] | [options: LoggingOptions]
): Module | ((module: Module) => Module) {
  if (given.length === 2) return logged(...given);
  const [options] = given;
  return (module) => logged(module, options);
}

function logged<Module extends AnyModule>(module: Module, options: LoggingOptions): Module {
  const { logger, withArguments = false, now = () => performance.now() } = options;
  const label = labelOf(module);
  return wrapHandler(module, async (input, call) => {
    const started = now();
    const report = (outcome: string): string => `${label} ${outcome} in ${Math.round(now() - started)} ms`;
    const details = withArguments ? [{ arguments: input }] : [];
    try {
      const returned = await call();
      if (isFailure(returned)) logger.warn(report('answered with an error'), ...details);
      else logger.info(report('succeeded'), ...details);
      return returned;
    } catch (error) {
      // Not the message: it may repeat an argument.
      logger.warn(report(`threw ${error instanceof Error ? error.name : typeof error}`), ...details);
      throw error;
    }
  });
}

function isFailure(returned: unknown): boolean {
  return (
    typeof returned === 'object' && returned !== null && 'isError' in returned && returned.isError === true
  );
}
