// Values that differ between two runs of the same server, by name. All other values must be equal.

/** Replaces a value that cannot be equal by a name; `key` is the key of the value. */
export type Mask = (value: unknown, key: string) => unknown;

/** A moment: a time stamp, the time of day, milliseconds where a key says so, any of them inside a blob. */
export const time: Mask = (value, key) => {
  if (['processedAt', 'mtimeMs'].includes(key)) return '<time>';
  if (typeof value !== 'string') return value;
  return hideTime(key === 'blob' ? Buffer.from(value, 'base64').toString() : value);
};

function hideTime(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, '<time>')
    .replaceAll(/\b\d{1,2}:\d\d:\d\d(?:\s[AP]M)?/gu, '<time>');
}

/** When a file was made, and when it was last read: both are of this run. */
export const fileTimes: Mask = (value) =>
  typeof value === 'string' ? value.replaceAll(/^(created|accessed): .*$/gmu, '$1: <time>') : value;

/** An id that the server makes up. */
export const randomId: Mask = (value) =>
  typeof value === 'string' ? value.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu, '<id>') : value;

/** The variables that the gateway adds to a server's environment: its mark, and its id in the chain of gateways. Their order may change. */
export const environment: Mask = (value, key) => {
  if (key !== 'text') return value;
  const all = JSON.parse(value as string) as Record<string, string>;
  const { WEIR_OWNER: _mark, WEIR_CHAIN: _chain, ...variables } = all;
  return JSON.stringify(variables, Object.keys(variables).sort());
};

/** Applies masks to everything in a value. */
export function masked(value: unknown, masks: readonly Mask[], key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, masks, key));
  if (typeof value !== 'object' || value === null)
    return masks.reduce((left, mask) => mask(left, key), value);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item, masks, name)]));
}
