/** Between the server's key and its own id; a key that holds one is encoded. */
const MARK = '~';

/** Returns the prefix of a server's task ids, used where there are several servers. */
export function taskPrefix(serverKey: string): string {
  // Half a surrogate pair, which JSON can hold, cannot be encoded.
  const text = encodeURIComponent(Buffer.from(serverKey).toString());
  return `${text.replaceAll(MARK, '%7E')}${MARK}`;
}

export function joinTaskId(serverKey: string, id: string): string {
  return `${taskPrefix(serverKey)}${id}`;
}

/** The other direction; undefined for an id that names no server. */
export function splitTaskId(publicId: string): { serverKey: string; id: string } | undefined {
  const mark = publicId.indexOf(MARK);
  if (mark < 0) return undefined;
  try {
    return { serverKey: decodeURIComponent(publicId.slice(0, mark)), id: publicId.slice(mark + 1) };
  } catch {
    return undefined;
  }
}
