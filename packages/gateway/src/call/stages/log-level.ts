import { decode } from '../../wire/json/splice.ts';
import type { Stage } from '../call.ts';

/** Sets the log level of a legacy server to what the client of a call wants; modern servers read it in each request. */
export const logLevel: Stage = {
  // A shared server follows the most verbose of its legacy clients (gateway/log-level-sync).
  appliesTo: ({ caller }, { upstream }) =>
    upstream.era === 'legacy' && (caller.era === 'modern' || upstream.sharing !== 'shared'),
  run({ caller, services: { logLevels }, message }, target, { next }) {
    const { logLevel: level } = caller.envelope;
    if (caller.era === 'modern') logLevels.askedBy(message, target.upstream);
    else if (level !== undefined) logLevels.tell(target.upstream, decode(level));
    next(target);
  },
};
