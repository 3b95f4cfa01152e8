import {
  hasMoreThan,
  objectValue,
  readElements,
  readMembers,
  stringValue,
  findMember,
  type Members,
} from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import { Owners } from '../tasks/task-owners.ts';

/** Visits that are remembered of one server: more than a person could have open. */
const MOST_OF_SERVER = 1000;
/** Addresses in one error; a client is asked to visit no more. */
const MOST_IN_ERROR = 32;

/** Remembers which client a server has sent to an address, so that only this client hears when the visit is over. */
export class UrlElicitations {
  readonly #owners = new Owners(MOST_OF_SERVER);

  /** Notes the client that gets this question of a server. */
  asked(serverKey: string, { params }: Message, identity: string): void {
    this.#note(serverKey, params, identity);
  }

  /** Notes the client that gets this error, which sends it to addresses. */
  began(serverKey: string, error: Members, identity: string): void {
    const data = objectValue(error, 'data');
    if (data === undefined || hasMoreThan(MOST_IN_ERROR, data, 'elicitations')) return;
    const spans = readElements(data.bytes, data.flat[findMember(data, 'elicitations') + 2] ?? 0) ?? [];
    for (let s = 0; s < spans.length; s += 2)
      this.#note(serverKey, readMembers(data.bytes, spans[s] as number), identity);
  }

  /** Returns the identity of the client that was sent to an address with this id. */
  ownerOf(serverKey: string, id: string): string | undefined {
    return this.#owners.of(serverKey, id);
  }

  #note(serverKey: string, address: Members | undefined, identity: string): void {
    const id = address && stringValue(address, 'elicitationId');
    if (id !== undefined) this.#owners.note(serverKey, id, identity);
  }
}
