/** Bytes or text, at once or in pieces; streams of Node and of the web are async iterables. */
export type FileContent = string | Uint8Array | ArrayBuffer | Blob | AsyncIterable<string | Uint8Array>;

export interface ContentPieces {
  readonly pieces: AsyncIterable<unknown> | readonly Uint8Array[];
  /** Bytes that are known beforehand: 0 for a stream. */
  readonly knownBytes: number;
}

/** Returns the pieces of a content; throws for a value that is none. */
export function piecesOf(content: FileContent): ContentPieces {
  const given: unknown = content;
  if (typeof given === 'string') return whole(Buffer.from(given));
  if (given instanceof Uint8Array) return whole(given);
  if (given instanceof ArrayBuffer) return whole(new Uint8Array(given));
  if (given instanceof Blob) return { pieces: given.stream(), knownBytes: given.size };
  if (isAsyncIterable(given)) return { pieces: given, knownBytes: 0 };
  throw new TypeError(
    `The content of a file must be a text, a Uint8Array or Buffer, an ArrayBuffer, a Blob, or a stream or another async iterable of texts and bytes; it is ${kindOf(given)}`,
  );
}

function whole(bytes: Uint8Array): ContentPieces {
  return { pieces: [bytes], knownBytes: bytes.length };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'
  );
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return `of type ${typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value}`;
}
