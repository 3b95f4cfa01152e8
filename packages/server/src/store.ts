export { asKeyValue, type KeyValueOptions, type LockingKeyValueStore } from './store/as-key-value.ts';
export { createFileStore, type FileStoreOptions } from './store/file-store.ts';
export type { KeyValueStore } from './store/key-value-store.ts';
export { withLock, type LockOptions } from './store/lock.ts';
export { createMemoryStore } from './store/memory-store.ts';
export { createEncryptedStore, openEncryptedStore } from './store/open-encrypted-store.ts';
export type { EncryptedStoreOptions } from './store/secrets-folder.ts';
export { StoreError, type Store, type StoreEntry, type ValueChange } from './store/store-contract.ts';
