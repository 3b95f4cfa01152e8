import { isIP } from 'node:net';
import type { ParsedRedirectUrl } from './transport-config.ts';

/** A value with the name of the flag or variable that has it. */
export interface Setting {
  readonly name: string;
  readonly text: string;
}

/** A value that was understood, or a text that says what is wrong with it. */
export type Understood<Value> = { readonly value: Value } | { readonly mistake: string };

const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];
const LAST_PORT = 65_535;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
/** Longer values are not repeated in an error: they may be a secret that went astray. */
const LONGEST_SHOWN = 16;

export function readPort({ name, text }: Setting): Understood<number> {
  const value = Number(text);
  if (/^[1-9]\d{0,4}$/u.test(text) && value <= LAST_PORT) return { value };
  return { mistake: `${name} must be a whole number from 1 to ${LAST_PORT}${butIs(text)}` };
}

/** Reads a host name or an IP address; brackets around IPv6 are taken off, because sockets want none. */
export function readHost({ name, text }: Setting): Understood<string> {
  const value = text.replace(/^\[(.*)\]$/u, '$1');
  const isName = /^(?!-)[A-Za-z\d_-]{1,63}(?:\.[A-Za-z\d_-]{1,63})*\.?$/u.test(text) && text.length <= 253;
  if (isIP(value) === 6 || (isName && (isIP(text) === 4 || !/^[\d.]+$/u.test(text)))) return { value };
  return {
    mistake: `${name} must be a host name or an IP address, without scheme, port and path${butIs(text)}`,
  };
}

export function readBoolean({ name, text }: Setting): Understood<boolean> {
  if (text === 'true' || text === '1') return { value: true };
  if (text === 'false' || text === '0') return { value: false };
  return { mistake: `${name} must be true, false, 1 or 0${butIs(text)}` };
}

export function readLogLevel({ name, text }: Setting): Understood<string> {
  if (LOG_LEVELS.includes(text)) return { value: text };
  return { mistake: `${name} must be one of ${LOG_LEVELS.join(', ')}${butIs(text)}` };
}

/** Reads a redirect URI. Errors do not repeat it, because of the password that may be in it. */
export function readRedirectUri({ name, text }: Setting): Understood<ParsedRedirectUrl> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const standard = url && DEFAULT_PORTS[url.protocol];
  if (url === undefined || standard === undefined)
    return { mistake: `${name} must be an http or https URL, as in http://127.0.0.1:3000/callback` };
  if (url.username !== '' || url.password !== '')
    return { mistake: `${name} must have no user name and no password in it` };
  if (text.includes('#')) return { mistake: `${name} must have no fragment: leave out '#' and what follows` };
  const { href, protocol, hostname, port, pathname } = url;
  return { value: { href, protocol, hostname, port: port === '' ? standard : Number(port), pathname } };
}

/** Repeats a short value, in quotes, so that a space at its end is seen. */
function butIs(text: string): string {
  return /^[\w.:+ -]+$/u.test(text) && text.length <= LONGEST_SHOWN ? `, not '${text}'` : '';
}
