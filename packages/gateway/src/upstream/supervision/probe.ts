import type { Schedule, Timers } from '../../time/schedule.ts';
import type { SupervisionRules } from './health.ts';

/** A server as a probe sees it. */
export interface Probed {
  /** How many messages have come from it. */
  readonly heard: number;
  /** It works on a call, or its words are held back here: its silence says nothing. */
  readonly isExcused: boolean;
  /** Asks it something that every server of its era can answer; returns what gives that up. */
  ask(answered: () => void, failed: (reason: string) => void): () => void;
}

export interface ProbeOptions {
  /** Under which its timer stands in the schedule. */
  readonly name: string;
  readonly timers: Timers;
  readonly schedule: Schedule;
  readonly rules: SupervisionRules;
  answered(latency: number): void;
  lost(reason: string): void;
  /** It says nothing about the server. */
  unclear(): void;
}

/** Asks a server whether it is there. One that is silent for long enough, and has no excuse, is not. */
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
