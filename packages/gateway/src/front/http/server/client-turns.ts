import { inSlice } from '../../../wire/slices.ts';
import { Flow, turns } from '../../../wire/turns.ts';

/** Bytes of a body from which on its client counts as a flood. */
const LARGE_BODY = 64 * 1024;
/** Elements that reading a head or a body counts as, because it takes as long as so many lines. */
const STEP_ELEMENTS = 2;

/** The share of one client in the turns of the event loop. */
export class ClientTurns {
  readonly flow: Flow = new Flow(true);
  readonly #failed: (error: Error) => void;

  constructor(failed: (error: Error) => void) {
    this.#failed = failed;
  }

  /** Works on the head of a request: at once where there is room, unless it was sent ahead of the last response. */
  head(work: () => void, wasAhead: boolean): void {
    this.#work(!wasAhead && turns.hasRoom(this.flow), 0, work);
  }

  /** Works on a body, which most often arrives with the head and then belongs to the same turn. */
  body(bytes: number, work: () => void, isFollowed: boolean): void {
    if (bytes > LARGE_BODY || isFollowed) this.flood();
    this.#work(turns.canContinue(this.flow), bytes, work);
  }

  /** Counts the client as one that sends faster than it is answered. */
  flood(): void {
    turns.makeFlood(this.flow);
  }

  #work(isNow: boolean, bytes: number, work: () => void): void {
    const inTurn = (): void => {
      try {
        inSlice('request', this.flow, work, STEP_ELEMENTS, bytes);
      } catch (error) {
        this.#failed(error as Error);
      }
    };
    if (isNow) inTurn();
    else turns.wait(this.flow, inTurn);
  }
}
