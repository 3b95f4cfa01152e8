import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { requirements } from '../requirements.ts';
import { judgeProofs, type Outcome } from './proofs.ts';
import { root } from './source-files.ts';

/** Writes what a whole run has shown of the requirements to `.cache/proofs.json`, which `npm test` reads. */
// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class ProofReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const outcomes = modules.flatMap((module) => Array.from(module.children.allTests(), outcomeOf));
    mkdirSync(join(root, '.cache'), { recursive: true });
    writeFileSync(join(root, '.cache', 'proofs.json'), JSON.stringify(judgeProofs(requirements, outcomes)));
  }
}

/** A test that never ended has failed. */
function outcomeOf(test: TestCase): Outcome {
  const { state } = test.result();
  return {
    title: test.name,
    state: state === 'pending' ? 'failed' : state,
    isKnownFailure: test.options.fails === true,
  };
}
