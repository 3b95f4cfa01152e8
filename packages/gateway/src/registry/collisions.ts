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
    return `Name '${quoted(publicName)}' begins with the key of server '${keeper.serverKey}', so '${quoted(heldBack.name)}' of server '${heldBack.serverKey}' cannot have it`;
  const owners = [keeper, heldBack].map(({ serverKey, name }) =>
    name === publicName ? `'${serverKey}'` : `'${serverKey}' for its '${quoted(name)}'`,
  );
  return `Two servers want the name '${quoted(publicName)}': ${owners.join(' and ')}`;
}

/** Says which servers want a name, and which of them keeps it. */
export function collisionWarning(collision: Collision): string {
  const { keeper, heldBack, isByKey } = collision;
  const outcome = isByKey
    ? `Weir leaves it out, even while '${keeper.serverKey}' is not running`
    : `'${keeper.serverKey}' keeps it, because it comes first in the config; Weir leaves out that of '${heldBack.serverKey}'`;
  return `${describeCollision(collision)}. ${outcome}.`;
}

function remedy(noPrefix: boolean): string {
  return noPrefix
    ? 'Remove --no-prefix, so that each name begins with the key of its server.'
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
  return `Name '${quoted(publicName)}' now belongs to server '${to.serverKey}'; server '${from.serverKey}', which had it, was removed from the config, or a filter hides it`;
}
