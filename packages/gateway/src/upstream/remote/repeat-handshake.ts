import { Method } from '../../protocol/methods.ts';
import { describeInvalidInput } from '../../wire/describe-invalid.ts';
import type { Message } from '../../wire/message.ts';
import { HttpCall, type Wire } from './http-call.ts';
import type { HttpResponse } from './http-connection.ts';

/** Outcome of a handshake: one of these is called, once. */
interface HandshakeEvents {
  answered(answer: Message, response: HttpResponse): void;
  /** `what` ends a sentence that begins with the server's name. */
  failed(what: string): void;
}

/** Shakes hands once more with a server that has forgotten its session. */
export function repeatHandshake(opening: Message, wire: Wire, outcome: HandshakeEvents): HttpCall {
  const failed = (what: string): void => outcome.failed(what);
  const call = new HttpCall(opening, false, {
    wire,
    events: {
      received() {},
      suspended() {},
      answered(_, answer, response) {
        if (answer.isError) failed('lost the session and refuses a new one');
        else outcome.answered(answer, response);
      },
      refused: (_, response) => failed(wire.client.describeRefusal(response, Method.INITIALIZE)),
      invalid(_, line) {
        if (line.likelyKind === 'response')
          failed(`lost the session and answers a new handshake with ${describeInvalidInput(line)}`);
      },
      oversized: () => failed('lost the session and answers a new handshake with too large a message'),
      lost: (_, what) => failed(what),
    },
  });
  call.post();
  return call;
}
