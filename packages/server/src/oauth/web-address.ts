import { OAuthRequestError } from './oauth-errors.ts';

/** Tells a host of this machine, as `URL.hostname` spells it. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Returns an address that a browser may be sent to, serialised anew; throws for any other. */
export function browserAddress(address: string | URL): string {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === undefined || !isSafe || url.username !== '' || url.password !== '') {
    throw new OAuthRequestError(
      'The issuer names an address for the browser that is not safe to open: only https without a user is (http on loopback)',
    );
  }
  return url.href;
}
