// @ts-check
// What worked at the last run and does not now.
import { COLUMNS } from './seen.mjs';

/** @typedef {import('./page.mjs').Findings} Findings */

/**
 * @param {Findings} before
 * @param {Findings} now
 * @returns {string[]}
 */
export function losses(before, now) {
  const clients = Object.entries(now.clients).flatMap(([key, row]) => lostBy(before.clients[key], row));
  const servers = Object.values(now.servers).filter(
    ({ failure, differing }) => failure === undefined && differing.length > 0,
  );
  return [...clients, ...servers.map(({ name, differing }) => `${name}: ${differing.join(', ')} not equal`)];
}

/**
 * @param {import('./try-client.mjs').ClientRow | undefined} before
 * @param {import('./try-client.mjs').ClientRow} now
 */
function lostBy(before, now) {
  const transports = /** @type {import('./scene.mjs').Transport[]} */ (Object.keys(before?.verdicts ?? {}));
  const columns = transports.flatMap((transport) =>
    COLUMNS.filter(
      (column) =>
        before?.verdicts[transport]?.[column] === 'yes' && now.verdicts[transport]?.[column] !== 'yes',
    ).map((column) => `${now.name}, ${transport}: ${column}`),
  );
  const slow = before?.atOnce === true && now.atOnce !== true ? [`${now.name}: all tools at once`] : [];
  return [...columns, ...slow];
}
