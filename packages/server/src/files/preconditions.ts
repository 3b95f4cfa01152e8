type ReadHeader = (name: string) => string | undefined;

/** Names the present state of a file for caches and resumed downloads. */
export interface Validators {
  /** Strong where the content was hashed when it was written, weak otherwise. */
  readonly etag: string;
  /** An HTTP date. */
  readonly lastModified: string;
}

/** Evaluates the conditions of a GET or HEAD request in the order of RFC 9110, 13.2.2. */
export function checkPreconditions(header: ReadHeader, validators: Validators): 'proceed' | 304 | 412 {
  const ifMatch = header('if-match');
  if (ifMatch !== undefined && !matches(ifMatch, validators.etag, isSameStrong)) return 412;
  const ifNoneMatch = header('if-none-match');
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, validators.etag, isSameWeak) ? 304 : 'proceed';
  const since = Date.parse(header('if-modified-since') ?? '');
  return since >= Date.parse(validators.lastModified) ? 304 : 'proceed';
}

/** Tells whether a range may be sent: a file that has changed is sent whole, so that no client joins two files. */
export function rangeHolds(header: ReadHeader, validators: Validators): boolean {
  const condition = header('if-range');
  if (condition === undefined) return true;
  if (condition.includes('"')) return isSameStrong(condition.trim(), validators.etag);
  return isStrong(validators.etag) && condition.trim() === validators.lastModified;
}

function matches(list: string, etag: string, isSame: (one: string, other: string) => boolean): boolean {
  if (list.trim() === '*') return true;
  return [...list.matchAll(/(?:W\/)?"[^"]*"/g)].some(([candidate]) => isSame(candidate, etag));
}

function isSameStrong(one: string, other: string): boolean {
  return one === other && isStrong(one);
}

function isSameWeak(one: string, other: string): boolean {
  return one.replace(/^W\//, '') === other.replace(/^W\//, '');
}

function isStrong(etag: string): boolean {
  return etag.startsWith('"');
}
