/** Characters that every file system keeps apart: some take capital letters for small ones. */
const SAFE = /^[0-9a-z_-]$/u;
const ESCAPED = /%[0-9a-f]{2}/gu;
/** Names that Windows keeps for devices, also with an extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/u;

/** Returns the name of a value's file: the same, with all that some file system refuses or confuses written as `%xx`. */
export function fileNameOf(name: string): string {
  const characters = Array.from(name);
  const last = characters.length - 1;
  const isDevice = DEVICE.test(name);
  return characters
    .map((character, index) => {
      const isInnerDot = character === '.' && index > 0 && index < last;
      const isPlain = isInnerDot || SAFE.test(character);
      return isPlain && !(isDevice && index === 0) ? character : escaped(character);
    })
    .join('');
}

/** Returns the name of the value that a file holds; undefined for a file of another program or purpose. */
export function nameOfFile(fileName: string): string | undefined {
  const bytes = fileName.replaceAll(ESCAPED, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  const name = Buffer.from(bytes, 'latin1').toString('utf8');
  return fileName !== '' && fileNameOf(name) === fileName ? name : undefined;
}

function escaped(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
