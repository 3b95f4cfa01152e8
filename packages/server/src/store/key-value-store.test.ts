import type Keyv from 'keyv';
import { expectTypeOf, test } from 'vitest';
import type { KeyValueStore } from './key-value-store.ts';

interface Token {
  readonly accessToken: string;
  readonly expiresAt?: number;
}

test('a Keyv object and a Map are key-value stores', () => {
  expectTypeOf<Keyv<Token>>().toExtend<KeyValueStore<Token>>();
  expectTypeOf<Keyv>().toExtend<KeyValueStore<Token>>();
  expectTypeOf<Map<string, Token>>().toExtend<KeyValueStore<Token>>();
});
