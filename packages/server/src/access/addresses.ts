/** Returns true for the names and addresses of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

/** Returns true for an address that stands for all addresses of this machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Writes a host as it stands in a URL: an IPv6 address in brackets, a name in lower case. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}

/** Returns the URL at which a server that listens on `host` is reached from this machine. */
export function urlOf(host: string, port: number): string {
  return `http://${isWildcard(host) ? '127.0.0.1' : bracketed(host)}:${port}`;
}
