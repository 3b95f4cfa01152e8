import { ConfigError, ConfigErrorCode, quoted } from '../errors.ts';
import { escapeUnsafe } from '../log.ts';
import type { Owner } from './names.ts';
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
      .map((collision) => escapeUnsafe(describeCollision(collision)));
    const more = collisions.length > MOST_NAMED ? [`… and ${collisions.length - MOST_NAMED} more`] : [];
    const text = [...named, ...more, remedy(noPrefix)].join('\n');
    return new ConfigError(text, ConfigErrorCode.INVALID_SCHEMA, { collisions });
  }
}

/** Says which servers want a name. */
function describeCollision({ publicName, keeper, heldBack, isByKey }: Collision): string {
  if (isByKey)
    return `Name '${quoted(publicName)}' begins with the key of server '${keeper.serverKey}', so it cannot be that of '${quoted(heldBack.name)}' of server '${heldBack.serverKey}'`;
  const owners = [keeper, heldBack].map(({ serverKey, name }) =>
    name === publicName ? `'${serverKey}'` : `'${serverKey}' for its '${quoted(name)}'`,
  );
  return `Name '${quoted(publicName)}' is wanted by two servers: ${owners.join(' and ')}`;
}

/** Says which servers want a name, and which of them keeps it. */
export function collisionWarning(collision: Collision): string {
  const { keeper, heldBack, isByKey } = collision;
  const outcome = isByKey
    ? `It is left out, whether or not '${keeper.serverKey}' runs`
    : `The first in the config, '${keeper.serverKey}', keeps it; that of '${heldBack.serverKey}' is left out`;
  return `${describeCollision(collision)}. ${outcome}.`;
}

function remedy(noPrefix: boolean): string {
  return noPrefix
    ? 'Leave out --no-prefix, so that each name begins with its server.'
    : 'Rename one of the servers in the config, or choose another --separator.';
}

/** A public name that another server has now. */
export interface PassedName {
  readonly publicName: string;
  readonly from: Owner;
  readonly to: Owner;
}

/** Says which server has a name now, and why. */
export function describePassedName({ publicName, from, to }: PassedName): string {
  return `Name '${quoted(publicName)}' leads to server '${to.serverKey}' now; '${from.serverKey}', which had it, was taken out of the config, or a filter there holds it back`;
}
