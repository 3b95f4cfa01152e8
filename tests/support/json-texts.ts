// Random JSON texts and JSON-RPC-like lines, spelled in every way a parser accepts, and then broken.
import fc from 'fast-check';

type Texts = fc.Arbitrary<string>;

/** White space between two tokens; mostly none. */
const space: Texts = fc.oneof(
  { weight: 12, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(' ', '\t', '\r', '\n', '  ', '\r\n\t ') },
);

const NUMBERS =
  '0 -0 1 7 42 -1 1.0 1.50 1e3 1E-7 -0.5e+2 12345678901234567890 9007199254740993 1e400 0.1'.split(' ');

/** Parts of strings. Runs are there to reach beyond what a scan walks byte by byte. */
const PIECES = {
  plain: ['a', 'id', 'x y', ':', ',', '{', '}', '[', ']', '/', '"id":1,'.replaceAll('"', '\\"')],
  escaped: [
    '\\n',
    '\\"',
    '\\\\',
    '\\/',
    '\\b',
    '\\f',
    '\\r',
    '\\t',
    '\\u0041',
    '\\u00e9',
    '\\uD83D\\uDE00',
    '\\ud800',
  ],
  raw: ['é', '😀', '\u2028', '\u2029', '\u007f', '\ufeff', '\u00a0'],
  long: [
    'x'.repeat(40),
    'y'.repeat(300),
    '\\"'.repeat(200),
    '\\\\'.repeat(200),
    '\\n a line of text'.repeat(30),
    'é'.repeat(150),
  ],
};

const piece: Texts = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES.plain) },
  { weight: 3, arbitrary: fc.constantFrom(...PIECES.escaped) },
  { weight: 2, arbitrary: fc.constantFrom(...PIECES.raw) },
  { weight: 1, arbitrary: fc.constantFrom(...PIECES.long) },
);

const string: Texts = fc.oneof(
  { weight: 100, arbitrary: fc.array(piece, { maxLength: 4 }).map((pieces) => `"${pieces.join('')}"`) },
  // Makes the text one of those that are searched instead of walked.
  { weight: 1, arbitrary: fc.constant(`"${'z'.repeat(5000)}"`) },
);

/** A deep nest that closes again. */
const nest: Texts = fc
  .array(fc.constantFrom<[string, string]>(['[', ']'], ['{"a":', '}']), { maxLength: 80 })
  .map((levels) => levels.reduceRight((inner, [open, close]) => `${open}${inner}${close}`, '0'));

const scalar: Texts = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.constantFrom('true', 'false', 'null') },
  { weight: 4, arbitrary: string },
);

/** Any JSON value. */
export const jsonText: Texts = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 5, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 4 }).chain(arrayOf) },
    { weight: 2, arbitrary: fc.array(member(string, tie('value')), { maxLength: 4 }).chain(objectOf) },
    { weight: 1, arbitrary: nest },
  ),
})).value;

/** A key as it stands, or with some of its letters escaped. */
function spelled(key: string): Texts {
  const escapes = fc.array(fc.nat(key.length - 1), { minLength: 1, maxLength: 2 }).map((at) => {
    const letters = Array.from(key, (letter, i) => (at.includes(i) ? escapeOf(letter) : letter));
    return `"${letters.join('')}"`;
  });
  return fc.oneof(
    { weight: 25, arbitrary: fc.constant(JSON.stringify(key)) },
    { weight: 1, arbitrary: escapes },
  );
}

function escapeOf(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function member(key: Texts, value: Texts): Texts {
  return fc
    .tuple(space, key, space, space, value, space)
    .map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`);
}

function known(key: string, usual: Texts, odds = 20): Texts {
  const value = fc.oneof({ weight: odds, arbitrary: usual }, { weight: 1, arbitrary: jsonText });
  return member(spelled(key), value);
}

function objectOf(members: readonly string[]): Texts {
  return space.map((inner) => `{${members.join(',')}${members.length === 0 ? inner : ''}}`);
}

function arrayOf(elements: readonly string[]): Texts {
  return fc.tuple(space, space).map(([a, b]) => `[${a}${elements.join(`${b},${a}`)}${b}]`);
}

/** An object of these members, each there or not, in any order, some of them twice. */
function objectWith(members: readonly Texts[], always: readonly Texts[] = []): Texts {
  const some = fc.array(fc.oneof(...members), { maxLength: 3 });
  return fc
    .tuple(fc.tuple(...always), some)
    .chain(([first, more]) =>
      fc.shuffledSubarray([...first, ...more], { minLength: first.length + more.length }),
    )
    .chain(objectOf);
}

const METHODS = [
  'tools/call',
  'tools/list',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'ping',
  'x/unknown',
];
const NOTICES = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tools/list_changed',
  'notifications/x',
];
const strange: Texts = member(
  fc.oneof(string, fc.constantFrom('"__proto__"', '"constructor"', '"ID"', '"ids"', '""')),
  jsonText,
);

export const idText: Texts = fc.oneof(
  fc.constantFrom(...NUMBERS),
  // No longer one is answered under.
  string.filter((text) => Buffer.byteLength(text) <= 4096),
  fc.constantFrom('"5"', '"0x10"', '""', '" "'),
);
const meta: Texts = objectWith([
  known('progressToken', fc.oneof(idText)),
  known('io.modelcontextprotocol/protocolVersion', fc.constantFrom('"2026-07-28"', '"2025-11-25"')),
  strange,
]);
const ref: Texts = objectWith([
  known('type', fc.constantFrom('"ref/prompt"', '"ref/resource"')),
  known('name', string),
  known('uri', string),
]);
const params: Texts = objectWith([
  known('name', fc.oneof(string, fc.constantFrom('"a:echo"', '"b:echo"', '"echo"'))),
  known('arguments', jsonText),
  known('uri', string),
  known('_meta', meta),
  known('ref', ref),
  known('requestId', idText),
  known('progressToken', idText),
  strange,
]);
const error: Texts = objectWith(
  [known('data', jsonText), strange],
  [known('code', fc.constantFrom('-32000', '1.0')), known('message', string)],
);

const MEMBERS = {
  jsonrpc: known('jsonrpc', fc.constantFrom('"2.0"'), 60),
  id: known('id', idText),
  method: known(
    'method',
    fc.constantFrom(...METHODS, ...NOTICES).map((method) => JSON.stringify(method)),
  ),
  params: known('params', params),
  result: known('result', jsonText),
  error: known('error', error),
};
const { jsonrpc, id, method, result } = MEMBERS;
const anyMember: Texts = fc.oneof(...Object.values(MEMBERS), strange);

/** Something like a JSON-RPC message: more often one than not, with keys twice, escaped, or of a strange kind. */
export const messageText: Texts = fc
  .tuple(
    space,
    fc.oneof(
      { weight: 4, arbitrary: fc.oneof(request([strange]), request([anyMember])) },
      { weight: 2, arbitrary: objectWith([MEMBERS.params, strange], [jsonrpc, method]) },
      {
        weight: 3,
        arbitrary: fc.oneof(
          objectWith([strange], [jsonrpc, id, result]),
          objectWith([anyMember], [jsonrpc, id, result]),
        ),
      },
      { weight: 1, arbitrary: objectWith([strange], [jsonrpc, id, MEMBERS.error]) },
      { weight: 1, arbitrary: objectWith([anyMember]) },
      { weight: 1, arbitrary: jsonText },
    ),
    space,
  )
  .map((parts) => parts.join(''));

function request(others: readonly Texts[]): Texts {
  return objectWith(others, [jsonrpc, id, method, MEMBERS.params]);
}

const BYTES = [
  0x00, 0x09, 0x0d, 0x1f, 0x20, 0x22, 0x2c, 0x30, 0x3a, 0x5b, 0x5c, 0x5d, 0x75, 0x7b, 0x7d, 0x7f, 0x80, 0xc3,
  0xed, 0xff,
];

/** The bytes of a text with a few of them changed, inserted, dropped or cut off; often no JSON any more, nor UTF-8. */
export function mutated(texts: Texts): fc.Arbitrary<Buffer> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom(
      'replace' as const,
      'replace' as const,
      'insert' as const,
      'drop' as const,
      'cut' as const,
    ),
    byte: fc.oneof(fc.constantFrom(...BYTES), fc.nat(255)),
  });
  return fc.tuple(texts, fc.array(change, { minLength: 1, maxLength: 3 })).map(([text, changes]) =>
    changes.reduce((bytes: Buffer, { at, how, byte }) => {
      const i = at % (bytes.length + 1);
      const rest = how === 'cut' ? Buffer.alloc(0) : bytes.subarray(how === 'insert' ? i : i + 1);
      return Buffer.concat([
        bytes.subarray(0, i),
        how === 'drop' || how === 'cut' ? Buffer.alloc(0) : Buffer.of(byte),
        rest,
      ]);
    }, Buffer.from(text)),
  );
}

/** Lines as they come: most of them whole, some of them broken. */
export const lineBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 2, arbitrary: messageText.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: mutated(messageText) },
);

/** The same bytes in chunks of these sizes, which are taken in turn. */
export function inChunks(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? bytes.length);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}
