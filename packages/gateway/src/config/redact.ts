import { shortened, startOf } from '../shorten.ts';
import type { McpConfig, ServerConfig } from './config.generated.ts';

/** Shorter values are words rather than secrets, and would leave holes in every sentence. */
const SHORTEST_SECRET = 6;
/** Characters of a text that are shown. */
const LONGEST_SHOWN = 500;
/**
 * Characters that are read and kept of a text which a peer wrote: a search through more of it would hold up the calls.
 * Beyond what is shown there is room for the secrets in it, so that each is found whole.
 */
export const LONGEST_NOTED = 4096;
/** Characters at the end of a text that was cut which are never shown: a secret may be cut there. */
const MARGIN = 500;
const HIDDEN = '[hidden]';

const AUTHORIZATION = /\b(bearer|basic)\s+[^\s"',;]+/giu;
const ASSIGNMENT = /(key|token|secret|password)(["']?\s*[=:]\s*["']?)[^\s"'&,;]+/giu;
/** Prefixes of the keys of well-known services and of signed tokens (JWT). */
const KEY = /\b(?:sk-|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ)[\w.-]{12,}/gu;
const SECRET_NAME = /(?:key|token|secret|password)$/iu;
const USER_INFO = /\/\/[^\s/@]+@/gu;

/** Takes out of a text the values that a config gives its servers, and what looks like a secret; cuts what is long. */
export function redactor(config: () => McpConfig): (text: string) => string {
  return (text) => {
    // Read anew each time: errors are rare, and the config may have been replaced.
    const secrets = Object.values(config().mcpServers).flatMap(secretsOf);
    if (text.length < LONGEST_NOTED) return shortened(hidden(text, secrets), LONGEST_SHOWN);
    const whole = withoutBegun(startOf(text, LONGEST_NOTED), secrets);
    return `${startOf(hidden(whole, secrets).slice(0, -MARGIN), LONGEST_SHOWN)}…`;
  };
}

function hidden(text: string, secrets: readonly string[]): string {
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
    .replace(AUTHORIZATION, `$1 ${HIDDEN}`)
    .replace(ASSIGNMENT, `$1$2${HIDDEN}`)
    .replace(KEY, HIDDEN)
    .replace(USER_INFO, `//${HIDDEN}@`);
}

/** Ends a text that was cut before a secret whose end was cut off; the margin is enough for the short ones. */
function withoutBegun(text: string, secrets: readonly string[]): string {
  const begun = secrets
    .filter(({ length }) => length > MARGIN)
    .map((secret) => text.indexOf(secret.slice(0, MARGIN), text.length - secret.length + 1))
    .filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...begun));
}

/** Takes out of a text what the entry of a remote server keeps secret: its headers, and its address but for the host. */
export function withoutRemoteSecrets(text: string, { headers, url, sseConfig }: ServerConfig): string {
  const secrets = secretsOf({
    ...(headers && { headers }),
    ...(url && { url }),
    ...(sseConfig && { sseConfig }),
  });
  return secrets.length === 0 ? text : hidden(text, secrets);
}

/** The same for values by their names, such as the arguments of a call. */
export function redactedBy(redact: (text: string) => string): (name: string, value: unknown) => unknown {
  return (name, value) => {
    if (typeof value !== 'string') return value;
    return SECRET_NAME.test(name) ? HIDDEN : redact(value);
  };
}

function secretsOf({ env = {}, headers = {}, args = [], url, sseConfig }: ServerConfig): string[] {
  const words = Object.values(headers).flatMap((value) => [value, value.replace(/^.*\s/u, '')]);
  const addresses = [url, sseConfig?.url].flatMap(secretsInAddress);
  const secrets = [...Object.values(env), ...words, ...args.flatMap(secretsInArgument), ...addresses];
  return secrets.filter(({ length }) => length >= SHORTEST_SECRET);
}

/** As in `--api-key VALUE` and `--api-key=VALUE`. */
function secretsInArgument(argument: string, at: number, args: readonly string[]): string[] {
  const before = args[at - 1] ?? '';
  if (before.startsWith('-') && SECRET_NAME.test(before)) return [argument];
  const equals = argument.indexOf('=');
  return equals > 0 && SECRET_NAME.test(argument.slice(0, equals)) ? [argument.slice(equals + 1)] : [];
}

/** Paths that say nothing but which protocol is spoken there. */
const PLAIN_PATHS: readonly string[] = ['', '/', '/mcp', '/sse'];
/** Tells a key from the words that paths are made of, which would leave holes in every sentence. */
const KEY_IN_PATH = /^(?=.*[\dA-Z]).{8,}$|^.{20,}$/su;

/** Returns the part of an address that may be shown: many services put their key into the path. */
export function shownAddress({ origin, pathname }: URL): string {
  return `${origin}${PLAIN_PATHS.includes(pathname) ? pathname : '/…'}`;
}

/** Its password, its path with the keys in it and the values of its query, as they are written and as they are meant. */
function secretsInAddress(text: string | undefined): string[] {
  if (text === undefined || !URL.canParse(text)) return [];
  const { password, pathname, search } = new URL(text);
  const written = [
    password,
    ...(PLAIN_PATHS.includes(pathname) ? [] : [pathname]),
    ...pathname.split('/').filter((step) => KEY_IN_PATH.test(step)),
    ...search
      .slice(1)
      .split('&')
      .map((pair) => pair.replace(/^[^=]*=/u, '')),
  ];
  return [...written, ...written.map(decoded)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
