// @ts-check
// What was found, as a table for the terminal and as the page docs/chaos.md.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type as systemName } from 'node:os';
import { join } from 'node:path';
import { PEERS } from '../../bench/peers.mjs';
import { root } from '../steps.mjs';
import { FAULTS } from './faults.mjs';

/** @typedef {import('../chaos.mjs').Row} Row */
/** @typedef {import('../chaos.mjs').Settings} Settings */
/** @typedef {import('./subjects.mjs').Name} Name */

/**
 * @param {readonly Row[]} rows
 * @param {Settings} settings
 */
export function table(rows, { seconds, seed }) {
  const lines = rows.map(
    ({ fault, subject, promise, happened, ...found }) =>
      `| ${fault} | ${subject} | ${promise} | ${cell(happened)} | ${verdict(found)} |`,
  );
  return `${seconds} s a fault, seed ${seed}\n\n| fault | gateway | promised | happened | |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
}

/**
 * @param {readonly Row[]} rows
 * @param {Settings & { began: Date }} settings
 */
export function page(rows, settings) {
  const faults = [...new Set(rows.map(({ fault }) => fault))];
  return `# Chaos

Faults that every gateway meets sooner or later, injected into a running one. Gateways, servers, clients and the program that
kills them are separate processes. \`npm run chaos\` does it in some minutes; \`npm run chaos -- --write\` does it at length,
beside other gateways, and writes this page. \`--seed\` repeats a run, \`--only\` takes one fault.

${circumstances(settings)}

## What was promised, and what happened

On stdio, or where a promise is about HTTP, with \`weir serve\`. The longest turn is the longest time that the gateway's event
loop worked without a look at other peers, measured inside of it from its first list to its end. The aim is 20 ms.

The limits on memory hold for this page only and were chosen after measuring. For killed servers, the figure before the fault is
the highest of the same load without a fault, for up to 40 s, because a young heap grows anyway. For unread answers on HTTP the
limit is the size of all of them: Weir counts unread bytes for each connection, and there every answer has its own.

| fault | promised | happened | |
|---|---|---|---|
${faults.flatMap((fault) => ownLines(fault, rows)).join('\n')}

## Beside others

The same faults, done to \`weir serve\` and to two gateways from npm, each as its documentation starts it:
\`mcp-hub --port N --config FILE\` (with \`--watch\` where the config changes) and \`mcp-proxy --host 127.0.0.1 --port N --server stream -- COMMAND\`,
which has one server. The client is the SDK's, on Streamable HTTP, for mcp-hub on HTTP+SSE. These are the promises of Weir:
the others do not make them, and may leave it to their operator to restart a server.

${faults.map((fault) => beside(fault, rows)).join('\n\n')}
`;
}

/** @param {Settings & { began: Date }} settings */
function circumstances({ began, seconds, kills, seed }) {
  const { version } = JSON.parse(readFileSync(join(root, 'packages', 'cli', 'package.json'), 'utf8'));
  const minutes = Math.round((Date.now() - began.getTime()) / 60_000);
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${systemName()} ${release().split('.').slice(0, 2).join('.')}`;
  const peers = ['mcp-hub', 'mcp-proxy'].map(
    (name) => `${name} ${PEERS[/** @type {'mcp-hub'} */ (name)].version}`,
  );
  const versions = [`Node ${process.version}`, `Weir ${version}`, ...peers].join(' · ');
  return `${began.toISOString().slice(0, 10)} · ${machine} · ${versions} · seed ${seed} · ${seconds} s for what lasts, ${kills} kills of writers · ${minutes} minutes in all`;
}

/**
 * @param {string} fault
 * @param {readonly Row[]} rows
 */
function ownLines(fault, rows) {
  const first = FAULTS[fault]?.subjects[0];
  return rows
    .filter((row) => row.fault === fault && (row.subject === 'weir' || row.subject === first))
    .map(({ promise, happened, ...found }, index) => {
      const title = index === 0 ? (FAULTS[fault]?.title ?? fault) : '';
      return `| ${title} | ${promise} | ${cell(happened)} | ${verdict(found)} |`;
    });
}

/**
 * @param {string} fault
 * @param {readonly Row[]} rows
 */
function beside(fault, rows) {
  const { title = fault, except = {} } = FAULTS[fault] ?? {};
  /** @type {Name[]} */
  const names = ['weir serve', 'mcp-hub', 'mcp-proxy'];
  const own = rows.filter((row) => row.fault === fault && names.includes(row.subject) && !row.isMeasured);
  if (!own.some(({ subject }) => subject.startsWith('mcp-')))
    return `### ${title}\n\nDoes not apply: ${except['mcp-hub'] ?? ''} (mcp-hub), ${except['mcp-proxy'] ?? ''} (mcp-proxy).`;
  const promises = [...new Set(own.map(({ promise }) => promise))];
  const lines = promises.map((promise) => {
    const cells = names.map((name) => {
      const row = own.find((one) => one.promise === promise && one.subject === name);
      if (row !== undefined) return `${row.isKept === true ? 'yes' : 'no'}: ${cell(row.happened)}`;
      return `does not apply: ${except[name] ?? 'it has one server'}`;
    });
    return `| ${promise} | ${cells.join(' | ')} |`;
  });
  return `### ${title}\n\n| | ${names.join(' | ')} |\n|---|---|---|---|\n${lines.join('\n')}`;
}

/** @param {Pick<Row, 'isKept' | 'isMeasured'>} found */
function verdict({ isKept, isMeasured }) {
  if (isMeasured) return 'measured';
  if (isKept === undefined) return 'skipped';
  return isKept ? 'kept' : '**broken**';
}

/**
 * In one line, and no column more.
 * @param {string} text
 */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 300);
}
