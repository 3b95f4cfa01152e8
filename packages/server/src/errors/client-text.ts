/** Characters of an error's text that are read: a search through more of it would hold up other calls. */
const LONGEST_READ = 8192;
/** Characters of an error's text that a client gets. */
const LONGEST_SHOWN = 2000;
const HIDDEN = '[hidden]';
const PATH = '[path]';

/**
 * Makes an error's text fit for a client: without credentials, absolute paths, stack lines and control characters, and
 * not longer than 2,000 characters.
 */
export function clientText(text: string): string {
  const isLong = text.length > LONGEST_READ;
  const start = isLong ? withoutLastWord(text.slice(0, LONGEST_READ)) : text;
  const shown = hidePaths(hideSecrets(withoutStack(plain(start)))).trim();
  return shown.length > LONGEST_SHOWN || isLong
    ? `${withoutHalf(shown.slice(0, LONGEST_SHOWN - 1))}…`
    : shown;
}

/** Takes credentials out of a text: keys, tokens, passwords, and the values of members that are named so. */
export function hideSecrets(text: string): string {
  return SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}

/** Replaces control characters and the colours of terminals, behind which a secret could hide from the patterns. */
export function plain(text: string): string {
  return text
    .replace(TERMINAL, '')
    .replace(INVISIBLE, '')
    .replace(/\r\n?/gu, '\n')
    .replace(CONTROL, ' ')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}

const TERMINAL = new RegExp(String.raw`\u001B\[[\d;?]{0,32}[A-Za-z]`, 'gu');
/** Characters without a shape, but for the two that join letters and emoji. */
const INVISIBLE = /[^\P{Cf}\u200C\u200D]|[\u034F\u115F\u1160\u3164]/gu;
const CONTROL = /[^\P{Cc}\n\t]|[\u2028\u2029]/gu;

/** Removes lines of a stack that an error has in its message. */
function withoutStack(text: string): string {
  return text
    .split('\n')
    .filter((line) => !isFrame(line.trim()))
    .join('\n');
}

function isFrame(line: string): boolean {
  return line.startsWith('at ') && FRAME_END.test(line);
}

/** Line and column; a line alone only behind the name of a program's file, because sentences have times and ports. */
const FRAME_END =
  /:\d+:\d+\)?$|\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|php|go|rs|cs|java|kt):\d+\)?$|\((?:native|<anonymous>|index \d+)\)$/u;

/** Names of members and parameters whose values are credentials. */
const NAMES = [
  'token',
  'secret',
  'passw(?:or)?d',
  'passphrase',
  'pwd',
  'pw',
  'api[-_ ]?key',
  '[-_]key',
  'key(?==)',
  '(?:access|account|private|secret|shared|signing|encryption|master)key',
  'credentials?',
  'signature',
  'sig(?==)',
  'session[-_]?id',
  'assertion',
  'verifier',
  'jwt',
  'otp',
  // Words of plain English as well, therefore only where a value is set.
  String.raw`(?<!by|com|over|sur|tres)pass(?=\\?["']?\s{0,8}=|\\?["']\s{0,8}:)`,
  String.raw`(?<![a-z])(?:auth|pat)(?=\\?["']?\s{0,8}=|\\?["']\s{0,8}:)`,
].join('|');
/** Passwords may have spaces in them, which tokens have not. */
const PASSWORDS = String.raw`passw(?:or)?d|passphrase|pwd|(?<!by|com|over|sur|tres)pass(?==)`;
/** Beginnings of sentences about a field, such as "password: must have 8 characters". */
const SAYS =
  '(?:is|was|are|has|have|must|should|may|can|cannot|does|did|not|no|too|required?|missing|expected|invalid|incorrect|wrong|unknown|string|text|value|field)\\b';
/** A word that is none of plain English: letters and digits, many digits, or with a sign or a capital within. */
const CODED = String.raw`(?=[^\s"',;]{4})(?!(?:base|utf|sha|md|hs|rs|es|oauth|ps|v|ed|pbkdf|argon|x)-?\d)(?=[^\s"',;]{0,64}?(?:[A-Za-z]\d|\d[A-Za-z]|\d{4}|[a-z][A-Z]|\w[!@#$%^&*+=~]\w))[^\s"',;]+`;
/** A value in quotes, or a word. The last quote may be cut off, and no letter follows it. Values that are hidden already stay. */
const VALUE = String.raw`(?!\[hidden\])(?:"(?:[^"\\\n]|\\.|"(?=\w))*"?|'(?:[^'\\\n]|\\.|'(?=\w))*'?|[^\s"']\S*)`;
/** Beginnings of the keys of well-known services. */
const PREFIXES = [
  'sk[-_]',
  '[pr]k_(?:live|test)_',
  'gh[opsur]_',
  'github_pat_',
  'gl(?:pat|ptt|dt|rt)-',
  'xox[abceoprs]-',
  'xapp-',
  'A[KS]IA',
  'AIza',
  'ya29\\.',
  '1//0',
  '4/0A',
  'GOCSPX-',
  'npm_(?=\\w{30})',
  'pypi-',
  'hf_',
  'SG\\.',
  'shp(?:at|ca|pa|ss)_',
  'dop_v1_',
  'whsec_',
  'nvapi-',
  'gsk_',
  'lin_api_',
  'ntn_',
].join('|');

const SECRETS: readonly (readonly [RegExp, string])[] = [
  // Keys and certificates in their armour; one that was cut has no end.
  [/-----BEGIN [A-Z\d ]{0,40}-----[\s\S]*?(?:-----END [A-Z\d ]{0,40}-----|$)/gu, HIDDEN],
  // Headers whose whole value is a credential.
  [
    /((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']?\s{0,8}[:=]\s{0,8})(?!\[hidden\])(?:"(?:[^"\\\n]|\\.|"(?=\w))*"?|'(?:[^'\\\n]|\\.|'(?=\w))*'?|[^\n]+)/giu,
    `$1$2${HIDDEN}`,
  ],
  [
    /(bearer|dpop)\s{1,8}(?!\[hidden\]|(?:(?:access )?tokens?|auth(?:entication|orization)?|scheme)[.,;:!?)]?(?:\s|$))[^\s"',;]+/giu,
    `$1 ${HIDDEN}`,
  ],
  [/\b([Bb]asic|BASIC)\s{1,8}(?=[^\s"',;]{0,512}[A-Z\d=])[\w+/=-]{6,}/gu, `$1 ${HIDDEN}`],
  // Webhooks, whose addresses are credentials.
  [
    /(hooks\.slack\.com\/|discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/)(?!\[hidden\])[^\s"'<>]+/giu,
    `$1${HIDDEN}`,
  ],
  // Passwords in addresses, also those with a slash or a space that should have been escaped.
  [/:\/\/[^\s/?#"'<>]{0,512}@/gu, `://${HIDDEN}@`],
  [/:\/\/[^\s/"'<>@:]{1,256}:(?!\d+\/)[^\s"'<>]{0,512}@/gu, `://${HIDDEN}@`],
  [
    /:\/\/[^\s/?#"'<>@:]{1,256}:(?!\d{1,5}(?!\w))[^\s/"'<>@]{1,64}(?: [^\s/"'<>@]{1,64}){1,3}@(?=[\w[])/gu,
    `://${HIDDEN}@`,
  ],
  // The same without a scheme, known by the port.
  [
    /(?<![\w.%+/-])[\w.%+-]{1,64}:(?!\/\/)[^\s"'<>]{1,256}@(?=[\w.-]{1,255}:\d{2,5}(?!\w)|(?:tcp|unix)\()/gu,
    `${HIDDEN}@`,
  ],
  // Credentials in lists and in pairs of a name and a value.
  [
    new RegExp(
      String.raw`(${NAMES})(\\?["']?\s{0,8}[:=]\s{0,8})(?:\[(?!hidden\])[^\]]{0,1000}\]?|\{[^}]{0,1000}\}?)\S*`,
      'giu',
    ),
    `$1$2${HIDDEN}`,
  ],
  [
    new RegExp(
      String.raw`(\[\s{0,8}\\?["'][\w-]{0,40}(?:${NAMES})[\w-]{0,40}\\?["']\s{0,8},\s{0,8})\\?(?:"(?:[^"\\\n]|\\[^"])*\\?"|'(?:[^'\\\n]|\\[^'])*\\?')(?=\s{0,8}(?:\]|$))`,
      'giu',
    ),
    `$1${HIDDEN}`,
  ],
  [
    new RegExp(
      String.raw`(["'\s{](?:name|key|field|header|param)\\?["']?\s{0,8}[:=]\s{0,8}\\?["'][\w-]{0,40}(?:${NAMES})[\w-]{0,40}\\?["']\s{0,8},\s{0,8}\\?["']?value\\?["']?\s{0,8}[:=]\s{0,8})\\?${VALUE}`,
      'giu',
    ),
    `$1${HIDDEN}`,
  ],
  // Passwords without quotes, up to the end of the line or to a sign that ends a value.
  [
    new RegExp(
      String.raw`(${PASSWORDS})(\s{0,8}(?:=\s{0,8}|:\s{0,8}(?!${SAYS})))(?!\[hidden\])[^\s"'&][^\s]*(?<![,;])[^\n,;"']*`,
      'giu',
    ),
    `$1$2${HIDDEN}`,
  ],
  [
    new RegExp(String.raw`(${NAMES})(\\?["']?\s{0,8}(?:=>|%3[Dd]|[=:])\s{0,8})\\?${VALUE}`, 'giu'),
    `$1$2${HIDDEN}`,
  ],
  // A credential named by a sentence.
  [
    /(passw(?:or)?d|passphrase|secret|api[-_ ]?key)(\s{1,8})(?:"(?:[^"\n]|"(?=\w))+"?|'(?:[^'\n]|'(?=\w))+'?)/giu,
    `$1$2${HIDDEN}`,
  ],
  [
    new RegExp(
      String.raw`(?<![A-Za-z])((?:[Pp]assw(?:or)?d|PASSW(?:OR)?D|[Pp]assphrase|PASSPHRASE|[Ss]ecret|SECRET)(?:[-_ ](?:[Kk]ey|KEY))?(?: (?:is|was))?)(\s{1,8})(?!\[hidden\])${CODED}`,
      'gu',
    ),
    `$1$2${HIDDEN}`,
  ],
  // Options of a command line.
  [
    /((?:mysql|mariadb)[^\n;|&]{0,200}?\s-p)(?!\[hidden\])(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"',;]+)/gu,
    `$1${HIDDEN}`,
  ],
  [/(--[\w-]{0,40}(?:key|token|secret|password))\s{1,8}(?![-[])[^\s"',;]+/giu, `$1 ${HIDDEN}`],
  // Authorization codes. A short number is the code of an exit or of a status; capitals name an error.
  [
    /(?:\b|(?<=%3[Ff]|%26))([Cc]ode(?:=|%3[Dd]))(?!(?:\d{1,5}|[A-Z_]{3,40})(?![\w/.-])|\[hidden\])[^\s"'&#,;)}\]]+/gu,
    `$1${HIDDEN}`,
  ],
  [new RegExp(String.raw`(?<![A-Za-z\d])(?:${PREFIXES})[\w.~+/=-]{8,}`, 'gu'), HIDDEN],
  // Signed and encrypted tokens: parts with dots between them, of which the first is JSON.
  [/(?<![A-Za-z\d])eyJ[\w-]{4,}(?:\.[\w-]*){0,4}/gu, HIDDEN],
  // Keys in hex. Shorter ones are the ids of commits and the like; a digest says so.
  [/(?<![\da-f]|sha\d{3}:)[\da-f]{64,}/giu, HIDDEN],
  // Secret keys of AWS, which may have slashes.
  [
    /(?<![\w/+=.:-])(?=[a-z\d/+]{0,39}[A-Z])(?=[A-Z\d/+]{0,39}[a-z])(?=[A-Za-z/+]{0,39}\d)[A-Za-z\d/+]{40}(?![\w/+=])/gu,
    HIDDEN,
  ],
  // Long words of capitals, small letters and digits together: keys of services that have no prefix.
  [/(?<![\w+/=.-])(?=[\w+=-]{0,256}\d)(?=[\w+=-]{0,256}[a-z])(?=[\w+=-]{0,256}[A-Z])[\w+=-]{32,}/gu, HIDDEN],
];

/** Characters that end a path in a sentence. */
const END = String.raw`\s"'\x60<>|`;
const START = String.raw`(?:file:|~?/|[A-Za-z]:[\\/]|\\\\)`;
/** More words of the same path: a folder's name may have a space in it. */
const MORE = String.raw`(?:(?: [^${END}\\/]{1,64}){1,2}[\\/][^${END}]*){0,4}`;

/** Folders that every system has. */
const KNOWN = '(?:etc|home|mnt|opt|private|proc|root|srv|tmp|Users|usr|var|Volumes)';

/** In this order: quoted paths, file addresses, other addresses (which stay), those without a host, Windows, Unix. */
const PATHS = new RegExp(
  [
    String.raw`(?<quote>["'\x60])${START}[^\n]{0,400}?\k<quote>(?![\w/\\])`,
    String.raw`(?:file|FILE):[^${END}]+`,
    String.raw`\b(?<address>[A-Za-z][A-Za-z\d+.\-]{1,20}://[^\s/"'<>]{1,255}(?:/[^\s"'<>?#]*)?)`,
    String.raw`\b[A-Za-z][A-Za-z\d+.\-]{1,20}:/{3,}[^${END}]*`,
    String.raw`(?<![A-Za-z\d])[A-Za-z]:[\\/][^${END}]*${MORE}`,
    String.raw`\\\\[^${END}\\]+\\[^${END}]*${MORE}`,
    String.raw`(?<![\w.~%@)\]\}/\-])~?/+[^${END}/][^${END}]*${MORE}`,
    String.raw`~[\w\-]{0,32}/[^${END}]*`,
    // Folders that every system has are known also behind a word.
    String.raw`/${KNOWN}/[^${END}]*`,
    String.raw`(?<![\w.])%2[Ff]${KNOWN}%2[Ff][^${END}&]*`,
    // Relative ones that lead out of the folder, to the root of a drive, or to another drive.
    String.raw`(?<![\w.])(?:\.\.[\\/])+[^${END}]+`,
    String.raw`(?<![\w\\])\\(?:Users|Windows|Program Files|ProgramData|home|[Tt]e?mp)\\[^${END}]*${MORE}`,
    String.raw`(?<![A-Za-z\d])[A-Za-z]:[^${END}\\/:]{1,64}\\[^${END}]*${MORE}`,
  ].join('|'),
  'gu',
);

function hidePaths(text: string): string {
  return text.replace(PATHS, (found: string, ...rest: unknown[]) => {
    const { quote, address } = rest.at(-1) as { quote?: string; address?: string };
    if (address !== undefined) return found;
    if (quote !== undefined) return `${quote}${PATH}${quote}`;
    // The end of a sentence or of a bracket is none of the path.
    return `${PATH}${/[),.:;?\]}]*$/u.exec(found)?.[0] ?? ''}`;
  });
}

/** The last word of a text that was cut may be half of a secret, which no pattern knows. */
function withoutLastWord(text: string): string {
  const end = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n'));
  return text.slice(0, Math.max(end, LONGEST_READ / 2));
}

/** Half of a character at the end is left out. */
function withoutHalf(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}
