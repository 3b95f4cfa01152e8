export { createFileStore, type FileStoreOptions } from './store/file-store.ts';
export type { KeyValueStore } from './store/key-value-store.ts';
export { createMemoryStore } from './store/memory-store.ts';
export { createEncryptedStore, openEncryptedStore } from './store/open-encrypted-store.ts';
export type { EncryptedStoreOptions } from './store/secrets-folder.ts';
export { StoreError, type Store, type StoreEntry, type ValueChange } from './store/store-contract.ts';
