/** A file of a resource store. */
export interface StoredFile {
  /** 128 random bits, or the id that the caller of `put` chose. */
  readonly id: string;
  /** The name that a download gets; never a name on disk. */
  readonly filename: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Hash of the content, in hex. */
  readonly sha256: string;
  /** The only user who may read the file; without one, only links and the server itself reach it. */
  readonly owner?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly expiresAt?: string;
}

/** Reads a record. Undefined for one that is torn, or of a file that is still being written. */
export function parseRecord(text: string): StoredFile | undefined {
  const value = parseObject(text);
  const { id, filename, contentType, size, sha256, owner, createdAt, expiresAt } = value;
  const isRecord =
    [id, filename, contentType, sha256, createdAt].every((field) => typeof field === 'string') &&
    [owner, expiresAt].every((field) => field === undefined || typeof field === 'string') &&
    Number.isSafeInteger(size);
  return isRecord ? (value as unknown as StoredFile) : undefined;
}

/** Tells whether a time has come. A text that is not a time counts as past, so that a mistake closes and never opens. */
export function isPast(time: string | undefined, now: number): boolean {
  return time !== undefined && !(Date.parse(time) > now);
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
