import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isFileId } from './file-id.ts';
import { linkBase } from './route-prefix.ts';

/** A key that signs links to files. */
export interface FileLinkKey {
  /** Name of the key in links, so that keys can be replaced while links made with the old one still work. */
  readonly kid: string;
  /** At least 32 random bytes. */
  readonly secret: Uint8Array;
}

export interface FileLinkOptions {
  /** The first key signs; the others are for links that exist. */
  readonly keys: readonly FileLinkKey[];
  /** `routePrefix` of the router: a path, or a whole URL for links that are used outside of the page. */
  readonly routePrefix: string;
  /** The user in whose name the link reads: the owner of the file. */
  readonly owner?: string | undefined;
  /** Milliseconds that the link works, 15 minutes unless set. */
  readonly ttlMs?: number;
  readonly now?: (() => number) | undefined;
}

/** Long enough to click a link in a conversation, short enough that one in a log is worthless. */
const LINK_TTL_MS = 15 * 60 * 1000;

/** Makes a key for links. Share it between processes that serve the same files; links end with it. */
export function generateFileLinkKey(): FileLinkKey {
  return { kid: randomBytes(6).toString('base64url'), secret: randomBytes(32) };
}

/** Makes a link to a file that works without a login, in the name of its owner, for a short time. */
export function signFileLink(id: string, options: FileLinkOptions): string {
  const { owner, ttlMs = LINK_TTL_MS, now = Date.now } = options;
  const key = checkLinkKeys(options.keys)[0];
  if (key === undefined) throw new Error('keys is empty: give a key of generateFileLinkKey() to sign links');
  if (!isFileId(id)) throw new Error(`"${id}" is not the id of a file`);
  if (!(ttlMs > 0 && ttlMs < Infinity))
    throw new Error(`ttlMs ${ttlMs} must be a number of milliseconds above 0: links expire`);

  const claims = { kid: key.kid, id, exp: String(Math.ceil((now() + ttlMs) / 1000)), sub: owner };
  const query = new URLSearchParams({ exp: claims.exp, kid: key.kid });
  if (owner !== undefined) query.set('sub', owner);
  query.set('sig', signature(key, claims).toString('base64url'));
  return `${linkBase(options.routePrefix)}/${id}?${query.toString()}`;
}

/**
 * Checks the link parameters of a request. Undefined if there are none; an object without `isValid` if they are wrong
 * in any way. Each outcome costs one signature, whatever the id.
 */
export function verifyFileLink(
  id: string,
  query: URLSearchParams,
  { keys, now }: { keys: readonly FileLinkKey[]; now: number },
): { isValid: boolean; sub?: string } | undefined {
  if (!['exp', 'kid', 'sig', 'sub'].some((name) => query.has(name))) return undefined;
  const [exp, kid, sig] = [single(query, 'exp'), single(query, 'kid'), single(query, 'sig')];
  const sub = query.has('sub') ? single(query, 'sub') : undefined;
  const isWhole =
    /^[0-9]{1,12}$/.test(exp ?? '') && /^[\w-]{43}$/.test(sig ?? '') && (!query.has('sub') || Boolean(sub));

  const key = keys.find((candidate) => candidate.kid === kid);
  const claims = { kid: kid ?? '', id, exp: exp ?? '', sub };
  const expected = signature(key ?? UNKNOWN_KEY, claims);
  const given = Buffer.from(sig ?? '', 'base64url');
  const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
  const isValid = isGenuine && isWhole && key !== undefined && Number(exp) * 1000 > now;
  return { isValid, ...(isValid && sub !== undefined && { sub }) };
}

/** Throws for keys that cannot protect anything. */
export function checkLinkKeys(keys: readonly FileLinkKey[]): readonly FileLinkKey[] {
  for (const { kid, secret } of keys) {
    if (!/^[\w-]{1,64}$/.test(kid))
      throw new Error(`kid "${kid}" must be 1 to 64 letters, digits, "-" or "_"`);
    if (!(secret instanceof Uint8Array) || secret.length < 32)
      throw new Error(
        `The secret of the key "${kid}" must have at least 32 bytes: use generateFileLinkKey()`,
      );
  }
  const kids = keys.map(({ kid }) => kid);
  const twice = kids.find((kid, index) => kids.indexOf(kid) !== index);
  if (twice !== undefined) throw new Error(`Two keys are named "${twice}": give each its own kid`);
  return keys;
}

/** Stands in for a key that does not exist, so that the answer takes as long. */
const UNKNOWN_KEY: FileLinkKey = { kid: '', secret: new Uint8Array(32) };

interface LinkClaims {
  readonly kid: string;
  readonly id: string;
  readonly exp: string;
  readonly sub: string | undefined;
}

/** Signs the claims. The user comes last and is the only one that may have any character, so no two claims read alike. */
function signature({ secret }: FileLinkKey, { kid, id, exp, sub }: LinkClaims): Buffer {
  const user = sub === undefined ? 'unowned' : `user ${sub}`;
  return createHmac('sha256', secret)
    .update(`weir file link 1\nGET\n${kid}\n${id}\n${exp}\n${user}`)
    .digest();
}

/** Returns a parameter that occurs exactly once. */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
