/** Longest file name that common file systems accept, in bytes of UTF-8. */
const MAX_NAME_BYTES = 255;

/** Control characters, lone surrogates, characters that Windows forbids, and invisible ones that reorder or hide text. */
const UNSAFE =
  // eslint-disable-next-line no-control-regex -- control characters are what it removes
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff"*/:<>?\\|]|\p{Surrogate}|[\u{e0000}-\u{e007f}]/gu;

/** Makes a header that names a download (RFC 6266), with a plain ASCII name and, where that differs, the full one (RFC 8187). */
export function contentDisposition(type: 'attachment' | 'inline', filename: string): string {
  const name = safeFilename(filename);
  const ascii = name.replaceAll(/[^\x20-\x7e]|%/gu, '_');
  return `${type}; filename="${ascii}"${ascii === name ? '' : `; filename*=UTF-8''${percentEncode(name)}`}`;
}

/** Makes a name that every system can save: one path component, visible, not reserved, at most 255 bytes. */
export function safeFilename(filename: string): string {
  const visible = filename.normalize('NFC').replaceAll(UNSAFE, '_');
  const trimmed = visible.replace(/^[. ]+/, '').replace(/[. ]+$/, '');
  const named = trimmed === '' ? 'download' : trimmed;
  return shorten(isReservedName(named) ? `_${named}` : named);
}

/** Tells whether Windows takes this name for a device, with any extension. */
export function isReservedName(name: string): boolean {
  return /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i.test(name);
}

/** Cuts the middle out of a long name, so that its extension stays. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  const stem = Buffer.from(name.slice(0, name.length - extension.length));
  const room = MAX_NAME_BYTES - extension.length;
  // A cut inside a character leaves a replacement character at the end.
  const cut = stem
    .subarray(0, room)
    .toString()
    .replace(/\ufffd+$/, '');
  return `${cut.replace(/[. ]+$/, '')}${extension}`;
}

function percentEncode(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
