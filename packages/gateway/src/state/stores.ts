import { join } from 'node:path';
import { createFileStore, createMemoryStore, type Store } from '@weir/server/store';
import { HistoryFiles, type AppendLog } from './history-files.ts';

/** Everything that a gateway keeps from start to start, a store for each kind. */
export interface Stores {
  /** The era that each command speaks. */
  readonly eras: Store;
  /** The records of servers, such as disabled ones: a value for each config file. */
  readonly servers: Store;
  /** The lists of servers: a value for each config file and set of client capabilities. */
  readonly catalogues: Store;
  /** Opens the calls of tools for writing; undefined where they are kept in memory only. */
  openHistory(onFailed: (reason: string) => void): AppendLog | undefined;
}

/** Opens the stores of a state folder. Nothing is read or written yet. */
export function openStores(folder: string): Stores {
  return {
    eras: createFileStore({ folder: join(folder, 'eras') }),
    servers: createFileStore({ folder: join(folder, 'servers'), isDurable: true }),
    catalogues: createFileStore({ folder: join(folder, 'catalogues') }),
    openHistory: (onFailed) => new HistoryFiles({ state: folder, pid: process.pid, now: Date.now, onFailed }),
  };
}

/** Creates the stores of a gateway without a state folder. */
export function createMemoryStores(): Stores {
  return {
    eras: createMemoryStore(),
    servers: createMemoryStore(),
    catalogues: createMemoryStore(),
    openHistory: () => undefined,
  };
}
