import type { ToolInvocationRequest } from '../call/history/invocation.ts';
import type { ListName } from '../call/list-change-notifier.ts';
import type { ConfigChanges } from '../config/diff.ts';
import type { Log } from '../log.ts';
import type { ServerEvent } from '../upstream/supervision/supervisor.ts';

/** A change of the gateway or of one of its servers. `at` is in milliseconds since 1970. */
export type GatewayEvent =
  | ServerEvent
  | { readonly type: 'server-log'; readonly serverKey: string; readonly at: number; readonly text: string }
  | { readonly type: 'lists-changed'; readonly at: number; readonly lists: readonly ListName[] }
  | { readonly type: 'config-reloaded'; readonly at: number; readonly changes: ConfigChanges }
  | { readonly type: 'call-ended'; readonly at: number; readonly call: ToolInvocationRequest };

export type GatewayListener = (event: GatewayEvent) => void;

/** The one stream of events that programs, commands and consoles subscribe to. */
export class GatewayEvents {
  readonly #listeners = new Set<GatewayListener>();
  readonly #log: Log;
  /** Called with the first listener; returns what to call when the last one leaves. */
  readonly #open: () => () => void;
  #close: (() => void) | undefined;

  constructor(log: Log, open: () => () => void) {
    this.#log = log;
    this.#open = open;
  }

  /** Calls `listener` with every event from now on, until what is returned is called. */
  subscribe(listener: GatewayListener): () => void {
    this.#listeners.add(listener);
    this.#close ??= this.#open();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#close?.();
      this.#close = undefined;
    };
  }

  /** A listener that throws concerns neither the others nor the gateway. */
  publish(event: GatewayEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#log.error(`A listener for ${event.type} has failed: ${(error as Error).message}`);
      }
    }
  }
}
