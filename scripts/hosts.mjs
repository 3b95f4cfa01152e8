#!/usr/bin/env node
// @ts-check
// `npm run hosts`: installs clients and servers from npm, tries each with the gateway, and writes docs/compatibility.md.
// `--only NAME` tries one and keeps the other rows, `--json` prints the rows that were tried, and `--lock` resolves the
// dependencies of the versions in the tables anew. Exit code 1 where something worked at the last run and does not now.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CLIENTS } from './hosts/clients.mjs';
import { install, lock } from './hosts/install.mjs';
import { losses } from './hosts/losses.mjs';
import { page } from './hosts/page.mjs';
import { SERVER_PACKAGES, SERVERS } from './hosts/servers.mjs';
import { tryClient } from './hosts/try-client.mjs';
import { tryServer } from './hosts/try-server.mjs';
import { ensureInstalled } from './install.mjs';
import { root, runMain } from './steps.mjs';

/** @typedef {import('./hosts/page.mjs').Findings} Findings */

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [...Object.keys(CLIENTS), ...Object.keys(SERVERS)] },
    json: { type: 'boolean', default: false },
    lock: { type: 'boolean', default: false },
  },
});
const DATA = join(root, 'docs', 'compatibility.json');
const PAGE = join(root, 'docs', 'compatibility.md');

await runMain(async () => {
  const unknown = values.only.filter((name) => CLIENTS[name] === undefined && SERVERS[name] === undefined);
  if (unknown.length > 0)
    throw new Error(
      `There is no ${unknown.join(', ')}; there are ${Object.keys({ ...CLIENTS, ...SERVERS }).join(', ')}`,
    );
  if (values.lock) return lockAll();
  // Some clients need a later Node, which the judges bring.
  if (process.platform === 'linux' && process.arch === 'x64')
    ensureInstalled(join(root, 'tests', 'judges'), 'judges for the tests');
  const before = readFindings();
  const tried = await tryAll();
  writePage(tried);
  if (values.json) process.stdout.write(`${JSON.stringify(tried, null, 2)}\n`);
  const lost = losses(before, tried);
  if (lost.length > 0) throw new Error(`worked at the last run and does not now: ${lost.join('; ')}`);
});

function lockAll() {
  mkdirSync(join(root, 'scripts', 'hosts', 'locks'), { recursive: true });
  for (const [key, { packages }] of Object.entries(CLIENTS))
    if (values.only.includes(key)) lock(key, packages);
  if (Object.keys(SERVERS).some((key) => values.only.includes(key))) lock('servers', SERVER_PACKAGES);
}

/** @returns {Promise<Findings>} */
async function tryAll() {
  /** @type {Findings} */
  const tried = { clients: {}, servers: {} };
  for (const [key, client] of Object.entries(CLIENTS).filter(isWanted)) {
    process.stderr.write(`weir: ${client.name} …\n`);
    tried.clients[key] = await tryClient(key, client);
  }
  for (const [key, server] of Object.entries(SERVERS).filter(isWanted)) {
    process.stderr.write(`weir: ${key} …\n`);
    tried.servers[key] = await tryServer(key, server, install('servers', SERVER_PACKAGES));
  }
  return tried;
}

/** @param {[string, unknown]} entry */
function isWanted([key]) {
  return values.only.includes(key);
}

/** @returns {Findings} */
function readFindings() {
  if (!existsSync(DATA)) return { clients: {}, servers: {} };
  return JSON.parse(readFileSync(DATA, 'utf8'));
}

/**
 * Rows stand in the order of the tables; what is no longer in them leaves the page. Reads the file again, because another
 * run may have written to it meanwhile.
 * @param {Findings} tried
 */
function writePage(tried) {
  const before = readFindings();
  const findings = {
    clients: inOrder(CLIENTS, { ...before.clients, ...tried.clients }),
    servers: inOrder(SERVERS, { ...before.servers, ...tried.servers }),
  };
  writeFileSync(DATA, `${JSON.stringify(findings, null, 2)}\n`);
  writeFileSync(PAGE, page(findings));
}

/**
 * @template T
 * @param {object} table
 * @param {Record<string, T>} rows
 * @returns {Record<string, T>}
 */
function inOrder(table, rows) {
  return Object.fromEntries(
    Object.keys(table).flatMap((key) => (rows[key] === undefined ? [] : [[key, rows[key]]])),
  );
}
