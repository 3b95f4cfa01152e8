import { createMemoryStore } from './memory-store.ts';
import { storeCase } from './store.case.ts';

storeCase('memory', () => {
  const store = createMemoryStore();
  return { open: () => store };
});
