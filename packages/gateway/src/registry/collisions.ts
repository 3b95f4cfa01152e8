import { ConfigError, ConfigErrorCode, Texts } from '../errors.ts';
import { escapeUnsafe } from '../log.ts';
import type { Collision } from './public-names.ts';

/** Collisions that an error names. */
const MOST_NAMED = 5;

/** Collisions that are remembered, and so the most that are reported: a server may list names without end. */
const MOST_KNOWN = 1000;

/** The names that two servers want. They turn up at every build of the registry; each is news once. */
export class Collisions {
  readonly #known = new Map<string, Collision>();

  get size(): number {
    return this.#known.size;
  }

  /** True where this one was not known yet. */
  note(kind: string, collision: Collision): boolean {
    const id = JSON.stringify([kind, collision.publicName, collision.heldBack]);
    if (this.#known.has(id) || this.#known.size === MOST_KNOWN) return false;
    this.#known.set(id, collision);
    return true;
  }

  /** Returns the error for a start that fails because of collisions. */
  error(noPrefix: boolean): ConfigError {
    const collisions = [...this.#known.values()];
    const named = collisions
      .slice(0, MOST_NAMED)
      .map((collision) => escapeUnsafe(Texts.namesCollide(collision)));
    const more = collisions.length > MOST_NAMED ? [`… and ${collisions.length - MOST_NAMED} more`] : [];
    const text = [...named, ...more, Texts.collisionRemedy(noPrefix)].join('\n');
    return new ConfigError(text, ConfigErrorCode.INVALID_SCHEMA, { collisions });
  }
}
