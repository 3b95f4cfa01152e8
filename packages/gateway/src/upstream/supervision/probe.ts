import { Method } from '../../protocol/methods.ts';
import type { Schedule, Timers } from '../../time/schedule.ts';
import { requestLine } from '../../wire/answer.ts';
import type { Peer } from '../../wire/peer.ts';
import { reasonOf } from '../unavailable.ts';
import type { SupervisionRules } from './health.ts';

/** A conversation with a server, as a probe sees it. */
export interface Probed {
  /** Number of messages that have come from the server. */
  readonly heard: number;
  /** True while the server works on a call, or its output is paused here: silence says nothing then. */
  readonly isExcused: boolean;
  /** Sends a request that every server of its era can answer; returns a function that cancels it. */
  ask(answered: () => void, failed: (reason: string) => void): () => void;
}

export interface ProbeOptions {
  /** Name of the timer in the schedule. */
  readonly name: string;
  readonly timers: Timers;
  readonly schedule: Schedule;
  readonly rules: SupervisionRules;
  answered(latency: number): void;
  lost(reason: string): void;
  /** Hears of a probe without an answer from a server that is not silent. */
  unclear(): void;
}

/** Asks a server whether it is there. A server that stays silent without an excuse is lost. */
export function probe(server: Probed, options: ProbeOptions): void {
  const { name, timers, schedule, rules } = options;
  const sentAt = timers.now();
  const end = (): void => {
    schedule.cancel(name);
    giveUp();
  };
  const giveUp = server.ask(
    () => {
      schedule.cancel(name);
      options.answered(timers.now() - sentAt);
    },
    (reason) => {
      schedule.cancel(name);
      options.lost(reason);
    },
  );
  const look = (after: number, heardBefore: number): void => {
    schedule.set(name, sentAt + after, () => {
      const isSilent = server.heard === heardBefore && !server.isExcused;
      if (isSilent) {
        end();
        options.lost(`did not answer a probe within ${after / 1000} s`);
      } else if (after < rules.probeLimitMs) look(rules.probeLimitMs, server.heard);
      else {
        end();
        options.unclear();
      }
    });
  };
  look(rules.silenceMs, server.heard);
}

/** Sends `ping`, or `server/discover` in the modern era, which has no ping; returns a function that cancels it. */
export function ping(
  peer: Peer,
  meta: string,
  { answered, failed }: { answered: () => void; failed: (reason: string) => void },
): () => void {
  const id = peer.onResponse({
    isOwn: true,
    answered,
    progressed() {},
    lost: (error) => failed(reasonOf(error)),
  });
  peer.send(
    meta === ''
      ? requestLine(id, Method.PING, '{}')
      : requestLine(id, Method.DISCOVER, `{"_meta":{${meta}}}`),
  );
  return () => {
    peer.forget(id);
    peer.notify(Method.CANCELLED, { requestId: id });
  };
}
