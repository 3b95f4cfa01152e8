// @ts-check
import { writeFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { root } from '../steps.mjs';
import { REPORT } from './run-tests.mjs';

/** Writes the outcome of every test with the name of its project, which vitest's own report leaves out. */
// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter by its default export
export default class Reporter {
  /** @param {readonly import('vitest/node').TestModule[]} modules */
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) =>
      Array.from(module.children.allTests(), (test) => ({
        run: module.project.name,
        file: relative(root, module.moduleId).split(sep).join('/'),
        name: test.fullName,
        state: test.result().state,
      })),
    );
    writeFileSync(process.env[REPORT] ?? '', JSON.stringify(tests));
  }
}
