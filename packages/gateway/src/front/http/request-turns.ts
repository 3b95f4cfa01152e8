import type { ServerResponse } from 'node:http';
import type { Log } from '../../log.ts';
import { inSlice } from '../../wire/slices.ts';
import { turns, type Flow } from '../../wire/turns.ts';
import { flowOf, makeFlood } from './connection-account.ts';
import { pipelinedCount } from './pipeline.ts';
import { closeAfterError } from './respond.ts';

/** Bytes of a body from which on its client counts as a flood. */
const LARGE_BODY = 64 * 1024;
/** Elements that reading a head or a body counts as, because it takes as long as so many lines. */
const STEP_ELEMENTS = 2;

/** Works on requests within the turns of the event loop that all peers share. */
export class RequestTurns {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Works on the head of a request in this turn or in a later one; never after its client has left. */
  head(res: ServerResponse, work: () => void): void {
    const flow = flowOf(res.req.socket);
    if (turns.hasRoom(flow)) this.#work(res, flow, 0, work);
    else turns.wait(flow, () => this.#work(res, flow, 0, work));
  }

  /** Works on a body, which most often arrives with the head and then belongs to the same turn. */
  body(res: ServerResponse, bytes: number, work: () => void): void {
    const { socket } = res.req;
    if (bytes > LARGE_BODY || pipelinedCount(socket) > 0) makeFlood(socket);
    const flow = flowOf(socket);
    if (turns.canContinue(flow)) this.#work(res, flow, bytes, work);
    else turns.wait(flow, () => this.#work(res, flow, bytes, work));
  }

  /** Works as one slice. An exception ends only this connection. */
  #work(res: ServerResponse, flow: Flow, bytes: number, work: () => void): void {
    if (res.destroyed) return;
    try {
      inSlice('request', flow, work, STEP_ELEMENTS, bytes);
    } catch (error) {
      closeAfterError(res, error as Error, this.#log);
    }
  }
}
