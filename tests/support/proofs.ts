import type { Requirement } from '../requirements.ts';

/** One test of a finished run. */
export interface Outcome {
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** A known failure passes while the requirement is broken, so it proves nothing. */
  readonly isKnownFailure: boolean;
}

/** Proofs of requirements by a run. */
export interface Proofs {
  readonly proved: readonly string[];
  /** Requirements whose tests were all skipped on this machine, with the titles of these tests. */
  readonly unprovenHere: readonly { readonly id: string; readonly skipped: readonly string[] }[];
  /** Requirements that are done or begun and that no test has proved. */
  readonly unproved: readonly string[];
  /** Ids in titles that are unknown, or that count as not begun. */
  readonly stray: readonly string[];
}

/** Compares the requirements with the tests that ran: an id is proved by a test that passed, and by nothing else. */
export function judgeProofs(requirements: readonly Requirement[], outcomes: readonly Outcome[]): Proofs {
  const begun = requirements.filter(({ status }) => status !== 'open').map(({ id }) => id);
  const cited = outcomes.flatMap((outcome) => idsOf(outcome.title).map((id) => ({ ...outcome, id })));
  const proofs = cited.filter(({ isKnownFailure }) => !isKnownFailure);
  const passed = new Set(proofs.filter(({ state }) => state === 'passed').map(({ id }) => id));
  const failed = new Set(proofs.filter(({ state }) => state === 'failed').map(({ id }) => id));
  const unprovenHere = begun
    .filter((id) => !passed.has(id) && !failed.has(id))
    .map((id) => ({ id, skipped: proofs.filter((proof) => proof.id === id).map(({ title }) => title) }))
    .filter(({ skipped }) => skipped.length > 0);
  const isUnprovenHere = new Set(unprovenHere.map(({ id }) => id));
  return {
    proved: begun.filter((id) => passed.has(id)),
    unprovenHere,
    unproved: begun.filter((id) => !passed.has(id) && !isUnprovenHere.has(id)),
    stray: [...new Set(cited.map(({ id }) => id))].filter((id) => !begun.includes(id)),
  };
}

/** Reads the ids at the beginning of a title, as `verifies` writes them: `[AGG-CFG-1][AGG-CFG-2] …`. */
export function idsOf(title: string): string[] {
  const [ids = ''] = /^(?:\[[A-Z]+-[A-Z\d-]+\])*/u.exec(title) ?? [];
  return [...ids.matchAll(/\[([^\]]*)\]/gu)].map(([, id = '']) => id);
}
