/** Characters that every file system keeps apart: some take capital letters for small ones. */
const SAFE = '0123456789abcdefghijklmnopqrstuvwxyz_-';
/** Names that Windows keeps for devices, also with an extension. */
const DEVICES: readonly string[] = ['con', 'prn', 'aux', 'nul'];
const NUMBERED_DEVICES: readonly string[] = ['com', 'lpt'];
const DIGITS = '0123456789';

// No regular expressions: their machine code takes 0.2 MB of every gateway, because each start names files.

/** Returns the name of a value's file: the same, with all that some file system refuses or confuses written as `%xx`. */
export function fileNameOf(name: string): string {
  if (isPlain(name)) return name;
  const characters = Array.from(name);
  const last = characters.length - 1;
  const isDevice = isDeviceName(name);
  return characters
    .map((character, index) => {
      const isInnerDot = character === '.' && index > 0 && index < last;
      const isSafe = isInnerDot || SAFE.includes(character);
      return isSafe && !(isDevice && index === 0) ? character : escaped(character);
    })
    .join('');
}

/** True for nearly all names: safe characters alone, and not a device. */
function isPlain(name: string): boolean {
  for (let at = 0; at < name.length; at++) if (!SAFE.includes(name[at] as string)) return false;
  return name !== '' && !isDeviceName(name);
}

function isDeviceName(name: string): boolean {
  const dot = name.indexOf('.');
  const stem = dot < 0 ? name : name.slice(0, dot);
  if (DEVICES.includes(stem)) return true;
  return stem.length === 4 && NUMBERED_DEVICES.includes(stem.slice(0, 3)) && DIGITS.includes(stem.slice(3));
}

/** Returns the name of the value that a file holds; undefined for a file of another program or purpose. */
export function nameOfFile(fileName: string): string | undefined {
  const [first = '', ...rest] = fileName.split('%');
  const bytes = rest.map(
    (part) => String.fromCharCode(Number.parseInt(part.slice(0, 2), 16)) + part.slice(2),
  );
  const name = Buffer.from(first + bytes.join(''), 'latin1').toString('utf8');
  // A file name that is written in another way belongs to no value.
  return fileName !== '' && fileNameOf(name) === fileName ? name : undefined;
}

function escaped(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
