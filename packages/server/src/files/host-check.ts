import { isLoopback } from '../access/addresses.ts';
import { createAccessCheck, type ForeignHeader } from '../access/host-and-origin.ts';
import type { FileServingConfig } from './file-serving-config.ts';

/** The address that a client connected to. */
export interface ConnectionEnd {
  readonly address: string | undefined;
  readonly port: number;
  readonly isEncrypted: boolean;
}

export type HostCheck = (
  header: (name: string) => string | undefined,
  end: ConnectionEnd,
) => ForeignHeader | undefined;

/**
 * Makes a check that a request names this machine, a host of the config, or the host of absolute links. A web page could
 * otherwise give its own name the address of this machine and read the files of a server that trusts its network.
 */
export function createHostCheck({ allowedHosts = [], routePrefix }: FileServingConfig): HostCheck {
  const linked = URL.canParse(routePrefix) ? [new URL(routePrefix).host] : [];
  const allowed = [...allowedHosts, ...linked];
  return (header, { address, port, isEncrypted }) => {
    // The check takes the address of the connection for a server on all addresses, which one on a single address has too.
    const options = {
      host: '0.0.0.0',
      port,
      scheme: isEncrypted ? 'https' : 'http',
      allowedHosts: allowed,
    } as const;
    return createAccessCheck(options)({
      host: header('host'),
      origin: header('origin'),
      localAddress: address,
    });
  };
}

/** Reads the end from the URL of a request that has no socket: names of this machine are accepted at any port. */
export function endOfUrl(url: URL): ConnectionEnd {
  const isEncrypted = url.protocol === 'https:';
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = url.port === '' ? (isEncrypted ? 443 : 80) : Number(url.port);
  return { address: isLoopback(hostname) ? hostname : undefined, port, isEncrypted };
}
