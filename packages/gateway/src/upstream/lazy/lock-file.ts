import { canonicalJson } from '../../wire/json/canonical-json.ts';
import { snapshotHash, snapshotLines, textHash, type CatalogueSnapshot } from './catalogue-snapshot.ts';

/** A package that a server is started from. */
export interface LockedPackage {
  readonly name: string;
  readonly version?: string | undefined;
  readonly integrity?: string | undefined;
}

/** A server as it is written down. */
export interface LockedServer extends CatalogueSnapshot {
  readonly serverKey: string;
  /** Its entry in the config, before variables are replaced. */
  readonly entry: string;
  readonly package?: LockedPackage | undefined;
}

export interface LockContent {
  /** All entries of the config, before variables are replaced. */
  readonly unexpanded: unknown;
  /** Client capabilities that the servers got in the handshake, as JSON. */
  readonly client: string;
  readonly servers: readonly LockedServer[];
}

/** The same for the same servers, whatever the order; a line for each definition, fit to be compared. */
export function lockText({ unexpanded, client, servers }: LockContent): string {
  const sorted = [...servers].sort((one, other) => (one.serverKey < other.serverKey ? -1 : 1));
  const lines = [
    '"lockfileVersion":1',
    `"config":${JSON.stringify(textHash(canonicalJson(Buffer.from(JSON.stringify(unexpanded)))))}`,
    `"client":${canonicalJson(Buffer.from(client))}`,
    `"servers":{${sorted.length === 0 ? '' : `\n${sorted.map(serverText).join(',\n')}\n  `}}`,
  ];
  return `{\n${lines.map((line) => `  ${line}`).join(',\n')}\n}\n`;
}

function serverText(server: LockedServer): string {
  const snapshot = snapshotLines(server, '      ');
  const { name, version, integrity } = server.package ?? {};
  const head = [
    `"entry":${JSON.stringify(server.entry)}`,
    `"hash":${JSON.stringify(snapshotHash(server))}`,
    ...(name === undefined ? [] : [`"package":${JSON.stringify({ name, version, integrity })}`]),
  ];
  const lines = head.map((line) => `      ${line}`).join(',\n');
  return `    ${JSON.stringify(server.serverKey)}:{\n${lines},\n${snapshot}\n    }`;
}
