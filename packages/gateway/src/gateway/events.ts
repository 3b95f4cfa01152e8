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

type EventType = GatewayEvent['type'];

/** Events that cost something to make. */
const COSTLY: readonly EventType[] = ['server-log', 'call-ended'];

export type GatewayListener = (event: GatewayEvent) => void;

/** The one stream of events that programs, commands and consoles subscribe to. */
export class GatewayEvents {
  /** With the types that each has asked for; undefined for all. */
  readonly #listeners = new Map<GatewayListener, ReadonlySet<EventType> | undefined>();
  readonly #log: Log;
  /** Called with the first listener for lines or calls; returns what to call when the last one leaves. */
  readonly #open: () => () => void;
  #close: (() => void) | undefined;

  constructor(log: Log, open: () => () => void) {
    this.#log = log;
    this.#open = open;
  }

  /** Calls `listener` with every event of these types, or of all, until what is returned is called. */
  subscribe(listener: GatewayListener, types?: readonly EventType[]): () => void {
    this.#listeners.set(listener, types && new Set(types));
    this.#openOrClose();
    return () => {
      this.#listeners.delete(listener);
      this.#openOrClose();
    };
  }

  /** Making a record of every call costs time: only while there is a listener for it. */
  #openOrClose(): void {
    const isWanted = [...this.#listeners.values()].some(
      (types) => types === undefined || COSTLY.some((type) => types.has(type)),
    );
    if (isWanted) this.#close ??= this.#open();
    else {
      this.#close?.();
      this.#close = undefined;
    }
  }

  /** A listener that throws concerns neither the others nor the gateway. */
  publish(event: GatewayEvent): void {
    for (const [listener, types] of this.#listeners) {
      if (types?.has(event.type) === false) continue;
      try {
        listener(event);
      } catch (error) {
        this.#log.error(`A listener for ${event.type} failed: ${(error as Error).message}`);
      }
    }
  }
}
