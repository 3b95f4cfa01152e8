export type { KeyValueStore } from './store/key-value-store.ts';
