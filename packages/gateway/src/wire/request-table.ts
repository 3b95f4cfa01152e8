import { SlotMap } from './slot-map.ts';

/** From so many on, each is found by its id in a table: to go through all of them for each would take minutes. */
const MANY = 256;

/** The requests of a peer's that are under way. */
export class RequestTable<T extends { readonly id: string }> {
  readonly #slots = new SlotMap<T>();
  /** There while one of many is looked for: a table costs every request something, and they are rarely called off. */
  #byId: Map<string, Set<T>> | undefined;

  get size(): number {
    return this.#slots.size;
  }

  /** The number is for `take`. */
  add(request: T): number {
    if (this.#byId !== undefined) enter(this.#byId, request);
    return this.#slots.add(request);
  }

  take(ticket: number): T | undefined {
    const request = this.#slots.take(ticket);
    if (this.#byId === undefined || request === undefined) return request;
    if (this.size < MANY / 2) this.#byId = undefined;
    else remove(this.#byId, request);
    return request;
  }

  all(): T[] {
    return this.#slots.all();
  }

  /** Of sloppy peers several may have the same. */
  withId(id: string): T[] {
    if (this.size < MANY) return this.all().filter((request) => request.id === id);
    this.#byId ??= tableOf(this.all());
    return [...(this.#byId.get(id) ?? [])];
  }
}

function tableOf<T extends { readonly id: string }>(requests: readonly T[]): Map<string, Set<T>> {
  const table = new Map<string, Set<T>>();
  for (const request of requests) enter(table, request);
  return table;
}

function enter<T extends { readonly id: string }>(table: Map<string, Set<T>>, request: T): void {
  table.set(request.id, (table.get(request.id) ?? new Set<T>()).add(request));
}

function remove<T extends { readonly id: string }>(table: Map<string, Set<T>>, request: T): void {
  const same = table.get(request.id);
  same?.delete(request);
  if (same?.size === 0) table.delete(request.id);
}
