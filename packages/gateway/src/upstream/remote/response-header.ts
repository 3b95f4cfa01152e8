import type { IncomingMessage } from 'node:http';

/** Returns the first header of a name in small letters. Does not ask for `headers`: Node makes that object when it is first read. */
export function headerOf(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  name: string,
): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] as string;
    if (header.length === name.length && header.toLowerCase() === name) return rawHeaders[i + 1];
  }
  return undefined;
}
