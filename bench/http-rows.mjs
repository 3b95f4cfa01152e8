// The rows of the HTTP tables, all alive at once.
import {
  reach,
  startBareProxy,
  startGateway,
  startPlainProxy,
  startRawServer,
  startSdkServer,
} from './http-variants.mjs';
import { benchServers } from './variants.mjs';

const MODERN_ROWS = [
  'raw server',
  'sdk server',
  'weir → stdio',
  'weir → raw server',
  'weir → sdk server',
  'sdk server, by node:http',
  'bare proxy → sdk server, by node:http',
  'plain proxy → sdk server, by node:http',
  'weir → sdk server, by node:http',
];
const SESSION_ROWS = ['sdk server, sessions', 'weir → stdio, sessions'];
const QUICK_ROWS = ['sdk server', 'weir → stdio'];

/** Returns the rows and the function that ends them; a server behind the gateway is the very one that is called directly. */
export async function startRows({ folder, gateway, peers, quick }) {
  const [raw, sdk] = await Promise.all([startRawServer(), startSdkServer()]);
  const start = (servers) => startGateway(servers, { folder, gateway });
  const [stdio, toRaw, toSdk, bareProxy, proxy] = await Promise.all([
    start(benchServers(1)),
    start({ s0: { url: raw.url } }),
    start({ s0: { url: sdk.url } }),
    startBareProxy(sdk.url),
    startPlainProxy(sdk.url),
  ]);
  const rows = [
    { name: 'raw server', site: raw, era: 'modern' },
    { name: 'sdk server', site: sdk, era: 'modern' },
    { name: 'weir → stdio', site: stdio, era: 'modern', isGateway: true },
    { name: 'weir → raw server', site: toRaw, era: 'modern', isGateway: true, behind: raw },
    { name: 'weir → sdk server', site: toSdk, era: 'modern', isGateway: true, behind: sdk },
    { name: 'sdk server, by node:http', site: sdk, era: 'modern', byNode: true },
    {
      name: 'bare proxy → sdk server, by node:http',
      site: bareProxy,
      era: 'modern',
      isGateway: true,
      behind: sdk,
      byNode: true,
    },
    {
      name: 'plain proxy → sdk server, by node:http',
      site: proxy,
      era: 'modern',
      isGateway: true,
      behind: sdk,
      byNode: true,
    },
    {
      name: 'weir → sdk server, by node:http',
      site: toSdk,
      era: 'modern',
      isGateway: true,
      behind: sdk,
      byNode: true,
    },
    { name: 'sdk server, sessions', site: sdk, address: new URL('/sessions', sdk.url).href },
    { name: 'weir → stdio, sessions', site: stdio, isGateway: true },
  ];
  const wanted = rows.filter(({ name }) => !quick || QUICK_ROWS.includes(name));
  const running = await Promise.all([
    ...wanted.map(({ site, ...row }) => reach(site, row)),
    ...peers.map((peer) => peer.start(benchServers(1))),
  ]);
  const closePeers = () => running.slice(wanted.length).map(({ client }) => client.close());
  const close = () =>
    Promise.all([
      ...closePeers(),
      ...[raw, sdk, stdio, toRaw, toSdk, bareProxy, proxy].map((site) => site.close()),
    ]);
  return { running, close };
}

/** One table for each revision; in each, the SDK's server of that revision is what the others are compared with. */
export function tablesOf(running, columns, rowOf) {
  const table = (title, names, base) => ({
    columns: [title, ...columns],
    rows: names
      .filter((name) => running.some((row) => row.name === name))
      .map((name) => [name, ...rowOf(name, base)]),
  });
  const peers = running
    .map(({ name }) => name)
    .filter((name) => ![...MODERN_ROWS, ...SESSION_ROWS].includes(name));
  const tables = [
    table('2026-07-28', MODERN_ROWS, 'sdk server'),
    table('2025-11-25', [...SESSION_ROWS, ...peers], 'sdk server, sessions'),
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}
