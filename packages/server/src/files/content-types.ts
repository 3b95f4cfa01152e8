const UNKNOWN = 'application/octet-stream';

/** Types that files made by tools usually have. A program that has others names them. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Types that browsers show without running anything. HTML and SVG can run scripts and are always downloads. */
const SHOWN: readonly string[] = [
  'application/pdf',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/plain',
];

/** Returns the type to send: the one that was given if it is well-formed, else the one of the name's extension. */
export function contentTypeOf(filename: string, given?: string): string {
  if (given !== undefined) return isContentType(given) ? given : UNKNOWN;
  const extension = /\.([A-Za-z0-9]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined) ?? UNKNOWN;
}

export function canBeShown(contentType: string): boolean {
  return SHOWN.includes(bareType(contentType));
}

/** Tells whether the bytes are text for a model; others are sent to it as base64. */
export function isText(contentType: string): boolean {
  return /^text\/|^application\/(?:json|xml|yaml|x-ndjson)$|\+(?:json|xml)$/.test(bareType(contentType));
}

function bareType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function isContentType(text: string): boolean {
  const token = "[\\w!#$&^.+'*`|~-]+";
  return new RegExp(`^${token}/${token}(?:; ?${token}=(?:${token}|"[\\w .,:/+-]*"))*$`).test(text);
}
