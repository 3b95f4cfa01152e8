import type { RpcError } from '../../errors.ts';
import type { ClientRequest } from '../client-request.ts';
import { HopAround } from '../hop-around.ts';
import type { Hop } from '../relay.ts';
import type { Target } from '../resolve.ts';

/** How often a call is made once more, where that can do no harm. */
export const MAX_RETRIES = 3;
/** A request that may be needed again is kept while it is under way; a large one is not. */
const LARGEST_KEPT = 1024 * 1024;

/** Whether a call may be made once more when its server is lost. */
export function isRepeatable({ message, attempt = 0 }: ClientRequest, target: Target): boolean {
  if (message.method !== 'tools/call' || target.isRepeatable !== true) return false;
  return attempt < MAX_RETRIES && message.bytes.length <= LARGEST_KEPT;
}

/** The hop of a call that is made anew where its server is lost. */
export class RepeatableHop extends HopAround {
  readonly #repeat: (error: RpcError) => void;
  readonly #bytes: number;

  constructor(hop: Hop, { message }: ClientRequest, repeat: (error: RpcError) => void) {
    super(hop);
    this.#bytes = message.bytes.length;
    this.#repeat = repeat;
  }

  override get repeatableBytes(): number {
    return this.#bytes;
  }

  override retry(error: RpcError): (() => void) | undefined {
    return this.to.gone === undefined ? undefined : () => this.#repeat(error);
  }
}

interface Comeback {
  /** The server may have been lost over this call. */
  readonly wasSent: boolean;
  /** Told once whether the server runs again. */
  readonly done: (isBack: boolean) => void;
}

/** Waits for a server to run again, unless another has taken its place. The client may call its request off meanwhile. */
export function waitForRestart(asked: ClientRequest, serverKey: string, { wasSent, done }: Comeback): void {
  const { caller, directory, message } = asked;
  const { origin } = caller;
  const running = directory.current().registry.upstreams.get(serverKey);
  if (running !== undefined && running.peer.gone === undefined) return done(true);
  let isCalledOff = false;
  const callOff = (): void => {
    isCalledOff = true;
    origin.untrack(ticket);
    asked.permit?.over();
    asked.invocation?.ended('cancelled');
  };
  const ticket = origin.track({
    id: message.id,
    bytes: message.bytes.length,
    cancel: callOff,
    abandon: callOff,
  });
  void directory.restartWaiters.wait(serverKey, wasSent).then((isBack) => {
    if (isCalledOff) return;
    origin.untrack(ticket);
    done(isBack);
  });
}
