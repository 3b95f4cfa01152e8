/** Transport of a server: one process has one. */
export type TransportConfig =
  | { type: 'stdio' }
  | {
      type: 'http';
      /** Port from 1 to 65535. */
      port: number;
      /** Name or address to listen on; without it the server decides. */
      host?: string;
    };

/** Options of a server, as its arguments and its environment give them. */
export interface ParsedTransportConfig {
  transport: TransportConfig;
  /** True for a server that prints the address for signing in and opens no browser. */
  headless: boolean;
  /** One of trace, debug, info, warn, error and silent. */
  logLevel?: string;
  /** Address to which a sign-in returns, as it was given. */
  redirectUri?: string;
  redirectUrl?: ParsedRedirectUrl;
  /** Port of the HTTP transport. */
  port?: number;
}

/** Parts of a redirect URI. */
export interface ParsedRedirectUrl {
  href: string;
  /** Scheme with its colon. */
  protocol: string;
  hostname: string;
  /** Port, also where the URI leaves it out: 80 for http, 443 for https. */
  port: number;
  pathname: string;
}

/** Config of a server. Without `auth` nothing asks for a login. */
export interface ServerConfig {
  transport: TransportConfig;
  auth?: 'loopback-oauth';
}
