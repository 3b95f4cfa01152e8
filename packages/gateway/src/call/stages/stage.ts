import type { ClientRequest } from '../client-request.ts';
import type { Target } from '../resolve.ts';

/** One step between the resolved name of a request and its server. */
export interface Stage {
  appliesTo(request: ClientRequest, target: Target): boolean;
  /** Does its part and goes on, at once or later, or answers the request itself. */
  run(request: ClientRequest, target: Target, steps: Steps): void;
}

interface Steps {
  /** Runs the stages that follow. */
  readonly next: (target: Target) => void;
  /** Resolves the name again and runs all stages. */
  readonly restart: () => void;
}
