// @ts-check
// What was found, as tables for the terminal and as the page docs/security.md.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type as systemName } from 'node:os';
import { join } from 'node:path';
import { root } from '../steps.mjs';

/** @typedef {import('./arena.mjs').Outcome} Outcome */
/** @typedef {import('./run-tests.mjs').Verdict} Verdict */
/** @typedef {{ title: string; numbers: readonly string[]; outcome: Outcome; broken: string[] }} Row */

/**
 * @param {readonly import('./cases.mjs').Case[]} cases
 * @param {Map<string, Verdict>} verdicts
 */
export function caseTable(cases, verdicts) {
  const rows = cases
    .filter(({ number }) => verdicts.has(number))
    .map((one) => `| ${one.number} | ${one.promise} | ${resultOf(one, verdicts.get(one.number))} |`);
  return `| case | promise | result |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/**
 * @param {import('./cases.mjs').Case} one
 * @param {Verdict | undefined} verdict
 */
function resultOf({ open }, { passed, failed, skipped } = { passed: [], failed: [], skipped: [] }) {
  const tests = (/** @type {number} */ count) => `${count} ${count === 1 ? 'test' : 'tests'}`;
  const result = [
    ...(failed.length > 0 ? [`**broken**: ${failed.join('; ')}`] : []),
    ...(failed.length === 0 && passed.length > 0 ? [`held (${tests(passed.length)})`] : []),
    ...(failed.length + passed.length === 0 && skipped.length > 0 ? ['not tried on this machine'] : []),
    ...(open === undefined ? [] : [`open: ${open}`]),
  ];
  return result.length === 0 ? '**untested**' : cell(result.join('; '));
}

/** @param {readonly Row[]} rows */
export function fightTable(rows) {
  const lines = rows.map(({ title, numbers, outcome: { honest, figures }, broken }) => {
    const cells = [
      `${title} (${numbers.join(', ')})`,
      broken.length === 0 ? 'held' : `**broken**: ${cell(broken.join('; '))}`,
      `${honest.calls}, ${honest.errors.length} errors, p99 ${honest.p99.toFixed(0)} ms`,
      ...(figures === undefined
        ? ['–', '–', '–', '–']
        : [
            `${figures.longestOwnTurnMs.toFixed(0)} ms (${figures.longestTurnMs.toFixed(0)} ms)`,
            figures.healthzMs === undefined ? '–' : `${figures.healthzMs.toFixed(0)} ms`,
            `${figures.sliceElements} elements, ${Math.ceil(figures.sliceBytes / 1024)} KiB`,
            `+${figures.growthMb.toFixed(0)} MB`,
          ]),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = [
    'attack',
    'result',
    'honest calls',
    'longest turn (with waits)',
    '/healthz',
    'largest slice',
    'memory',
  ];
  return `| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${lines.join('\n')}\n`;
}

/**
 * @param {{ sections: readonly import('./cases.mjs').Section[]; verdicts: Map<string, Verdict>; rows: readonly Row[]; siege: string; began: Date; seed: number; seconds: number }} found
 */
export function page({ sections, verdicts, rows, siege, began, seed, seconds }) {
  return `# Security: what was tried

Every attack of the list, what Weir promises, and whether it held. The threat model is in [SECURITY.md](../SECURITY.md), the
ceilings are in [limits.md](limits.md). \`npm run attack -- --write\` tries everything and writes this page; \`npm test\` runs the
tests of it without the long runs.

${circumstances({ began, seed, seconds })}

## Under attack

\`weir serve\`, hostile peers and honest peers are processes of their own. An attack holds if the gateway lives, every honest call is
answered correctly, its memory grows by at most 256 MB, slices of work are bounded, its log reports no internal error, and no
process is left. The longest turn of the event loop is measured from inside, without and with the time that the gateway waited for
a processor, and from outside by the longest answer of \`/healthz\`, which waits for a processor, too. The target is 20 ms.

${fightTable(rows)}
${siege}

${sections.map(({ title, cases }) => `## ${title}\n\n${caseTable(cases, verdicts)}`).join('\n')}`;
}

/** @param {{ began: Date; seed: number; seconds: number }} settings */
function circumstances({ began, seed, seconds }) {
  const { version } = JSON.parse(readFileSync(join(root, 'packages', 'cli', 'package.json'), 'utf8'));
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${systemName()} ${release().split('.').slice(0, 2).join('.')}`;
  return `${began.toISOString().slice(0, 10)} · ${machine} · Node ${process.version} · Weir ${version} · seed ${seed} · ${seconds} s for what lasts`;
}

/**
 * Returns a text in one line, without a column of its own.
 * @param {string} text
 */
function cell(text) {
  return text
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400);
}
