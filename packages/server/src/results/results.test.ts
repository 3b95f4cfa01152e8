import {
  isCallToolResult,
  type CallToolResult,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { verifies } from '../../../../tests/verifies.ts';
import {
  authRequired,
  buildAuthResponse,
  columns,
  error,
  errorBranch,
  fieldsInput,
  fillContent,
  inShape,
  isEmpty,
  item,
  items,
  nextPageToken,
  pageInput,
  paginate,
  pickFields,
  range,
  readPageToken,
  requestAuth,
  resultOf,
  rows,
  select,
  shape,
  shapeInput,
  success,
  toColumns,
  values,
  writePageToken,
  type AuthContext,
  type AuthResult,
} from '../results.ts';

const file = z.object({ id: z.string(), size: z.number() });
const INVALID = expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error;

function texts(result: CallToolResult): string[] {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

describe('fillContent', () => {
  verifies('KIT-RESP-1', 'content that a handler leaves out is the JSON of the structured content', () => {
    const structuredContent = { type: 'success', items: [{ id: 'a' }] };
    for (const draft of [
      { structuredContent },
      { structuredContent, content: [] },
      { structuredContent, content: undefined },
    ]) {
      const before = structuredClone(draft);
      const filled = fillContent(draft);
      expect(filled).toEqual({
        structuredContent,
        content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      });
      expect(isCallToolResult(filled)).toBe(true);
      expect(draft).toEqual(before);
    }
  });

  test('text of the handler stays, and text is added to other content', () => {
    const text = { type: 'text', text: 'Two files' } as const;
    const image = { type: 'image', data: '', mimeType: 'image/png' } as const;
    expect(fillContent({ content: [text], structuredContent: {} }).content).toEqual([text]);
    expect(fillContent({ content: [image], structuredContent: {} }).content).toEqual([
      { type: 'text', text: '{}' },
      image,
    ]);
    expect(fillContent({ content: [] })).toEqual({ content: [] });
    expect(fillContent({ isError: true })).toEqual({ isError: true, content: [] });
  });

  test('values other than objects are written as JSON', () => {
    for (const structuredContent of [null, 0, false, '', [], [1, 'a']])
      expect(texts(fillContent({ structuredContent }))).toEqual([JSON.stringify(structuredContent)]);
  });

  test('the branches of an error and of a login are their sentence', () => {
    expect(texts(fillContent({ structuredContent: { type: 'error', message: 'Gone' } }))).toEqual([
      'Error: Gone',
    ]);
    expect(texts(fillContent({ structuredContent: { type: 'auth_required', message: 'Sign in' } }))).toEqual([
      'Sign in',
    ]);
  });

  test('a long list is cut to its first entries, as valid JSON within the budget', () => {
    const list = Array.from({ length: 5000 }, (_, id) => ({ id, title: `Title ${id}` }));
    for (const longest of [200, 1000, 99_999]) {
      const structuredContent = { type: 'success', nextPageToken: 'x', items: list, few: [1] };
      const [json = '', note = ''] = texts(fillContent({ structuredContent }, longest));
      const shown = JSON.parse(json) as typeof structuredContent;
      expect(json.length).toBeLessThanOrEqual(longest);
      expect(json.length).toBeGreaterThan(longest - 60);
      expect(shown).toMatchObject({ type: 'success', nextPageToken: 'x', few: [1] });
      expect(shown.items).toEqual(list.slice(0, shown.items.length));
      expect(note).toBe(
        `These are the first ${shown.items.length} of 5000 entries of 'items'. All of them are in structuredContent.`,
      );
    }
  });

  test('a long result without a list is only named', () => {
    for (const structuredContent of [
      { type: 'success', item: { text: 'x'.repeat(200) } },
      { items: ['x'.repeat(200)] },
    ])
      expect(texts(fillContent({ structuredContent }, 100))).toEqual([
        `The result has ${JSON.stringify(structuredContent).length} characters of JSON and is in structuredContent only.`,
      ]);
  });

  verifies('KIT-RESP-1', 'any structured content gives a text within the budget', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 50, max: 500 }), (structuredContent, longest) => {
        const filled = fillContent({ structuredContent }, longest);
        expect(isCallToolResult(filled)).toBe(true);
        expect(texts(filled)).not.toEqual([]);
        // Sentences of the two branches and the note come on top.
        expect(texts(filled)[0]?.length).toBeLessThanOrEqual(Math.max(longest, 120));
      }),
    );
  });
});

describe('success and error', () => {
  test('success adds the type and the content', () => {
    const result = success({ items: [1, 2] }, { _meta: { 'a/b': 1 } });
    expect(result).toEqual({
      structuredContent: { type: 'success', items: [1, 2] },
      content: [{ type: 'text', text: '{"type":"success","items":[1,2]}' }],
      _meta: { 'a/b': 1 },
    });
    expectTypeOf(result.structuredContent).toExtend<{ type: 'success'; items: number[] }>();
    expect(success({ type: 'success', item: 1 }).structuredContent).toEqual({ type: 'success', item: 1 });
    // @ts-expect-error A success has no other type.
    success({ type: 'error', item: 1 });
  });

  test('success takes a text or blocks as content', () => {
    expect(texts(success({ item: 1 }, { content: 'One' }))).toEqual(['One']);
    expect(texts(success({ item: 1 }, { content: [{ type: 'text', text: 'One' }] }))).toEqual(['One']);
  });

  test('error says so in all three places', () => {
    expect(error('Gone', 'NOT_FOUND')).toEqual({
      content: [{ type: 'text', text: 'Error: Gone' }],
      structuredContent: { type: 'error', message: 'Gone', code: 'NOT_FOUND' },
      isError: true,
    });
    expect(error('Gone').structuredContent).toEqual({ type: 'error', message: 'Gone' });
  });
});

describe('buildAuthResponse', () => {
  verifies('KIT-RESP-1', 'the response has the documented shape and no isError', () => {
    const authUrl = 'https://login.example/authorize?a=b#c';
    expect(buildAuthResponse('Sign in', authUrl)).toStrictEqual({
      content: [{ type: 'text', text: 'Sign in' }],
      structuredContent: { type: 'auth_required', authUrl, message: 'Sign in' },
    });
  });

  test.each([
    'https://login.example',
    'http://localhost:3000/x',
    'http://127.0.0.1:1/x',
    'http://127.1.2.3',
    'http://[::1]:80/',
  ])('the address %s is accepted', (url) => {
    expect(buildAuthResponse('Sign in', url).structuredContent.authUrl).toBe(url);
  });

  const REFUSED = [
    '',
    'login.example',
    '/authorize',
    '//login.example',
    'http://login.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1@evil.example',
    'https://user:c4n4ry@login.example',
    'https://c4n4ry@login.example',
    'javascript:alert("c4n4ry")',
    'java\nscript:alert(1)',
    ' https://login.example',
    'https://login.example/\u0000',
    'https://login.example/a b',
    'data:text/html,c4n4ry',
    'file:///etc/c4n4ry',
    'vbscript:x',
    'ms-msdt:x',
    'ftp://login.example',
  ];
  verifies('KIT-RESP-1', 'an address that is not safe to open is refused and not repeated', async () => {
    const extra = {} as AuthContext;
    for (const url of REFUSED) {
      expect.soft(() => buildAuthResponse('Sign in', url), url).toThrow(/^authUrl must (?!.*c4n4ry)/);
      await expect
        .soft(requestAuth(extra, { message: 'Sign in', authUrl: url }), url)
        .rejects.toThrow(/^authUrl must/);
    }
  });

  test('the functions have the documented types', () => {
    expectTypeOf(buildAuthResponse).toEqualTypeOf<(message: string, authUrl: string) => AuthResult>();
    expectTypeOf<AuthResult>().toExtend<CallToolResult>();
    expectTypeOf(requestAuth).returns.resolves.toEqualTypeOf<AuthResult | InputRequiredResult>();
  });
});

describe('a legacy client', () => {
  const request = { message: 'Sign in', authUrl: 'https://login.example' };
  const asking = (
    elicitInput: AuthContext['mcpReq']['elicitInput'],
    signal = new AbortController().signal,
  ): AuthContext => ({
    mcpReq: { elicitInput, signal },
  });

  test('a client that fails or does not answer gets the result', async () => {
    const extra = asking(() => Promise.reject(new Error('timed out')));
    expect(await requestAuth(extra, request)).toEqual(buildAuthResponse('Sign in', request.authUrl));
  });

  test('a call that was cancelled ends', async () => {
    const extra = asking(() => Promise.reject(new Error('cancelled')), AbortSignal.abort());
    await expect(requestAuth(extra, request)).rejects.toThrow('cancelled');
  });
});

describe('schemas', () => {
  const cell = z.union([z.string(), z.number(), z.null()]);
  const table: [string, z.ZodType, unknown[], unknown[]][] = [
    [
      'items',
      items(file),
      [{ items: [] }, { items: [{ id: 'a', size: 1 }], nextPageToken: 't' }],
      [{ items: [{}] }, { item: {} }],
    ],
    ['item', item(file), [{ item: { id: 'a', size: 1 } }], [{ id: 'a', size: 1 }, { item: null }]],
    [
      'columns',
      columns(),
      [
        { columns: ['a'], isEmpty: false },
        { columns: [], isEmpty: true },
      ],
      [{ columns: ['a'] }, { columns: [1], isEmpty: false }],
    ],
    [
      'rows',
      rows(cell),
      [{ rows: [['a', 1, null]], range: 'A1:C1' }, { rows: [] }],
      [{ rows: ['a'] }, { range: 'A1' }],
    ],
    [
      'values',
      values(file, cell),
      [
        { select: 'cells', values: [{ id: 'a', size: 1 }] },
        { select: 'rows', values: [['a']] },
        { select: 'columns', values: [[1]] },
      ],
      [{ select: 'cells', values: [['a']] }, { select: 'other', values: [] }, { values: [] }],
    ],
    [
      'shape',
      shape(file, cell),
      [
        { shape: 'objects', items: [{ id: 'a', size: 1 }], nextPageToken: 't' },
        { shape: 'arrays', columns: ['id'], rows: [['a']], nextPageToken: 't' },
      ],
      [{ items: [] }, { shape: 'arrays', items: [] }],
    ],
    ['items with more', items(file, { total: z.int() }), [{ items: [], total: 1 }], [{ items: [] }]],
  ];

  /** Compiles what the SDK sends as the output schema, with the validator that its client has. */
  function judgeOf(schema: z.ZodType): (value: unknown) => boolean {
    const json = schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' });
    expect(json['type']).toBe('object');
    const validate = new AjvJsonSchemaValidator().getValidator(json);
    return (value) => validate(value).valid && schema.safeParse(value).success;
  }

  verifies(
    'KIT-RESP-1',
    'each builder renders to an object schema that takes its values and no others',
    () => {
      for (const [name, schema, good, bad] of table) {
        const judge = judgeOf(schema);
        for (const value of good) {
          expect
            .soft(judge({ type: 'success', ...(value as object) }), `${name} ${JSON.stringify(value)}`)
            .toBe(true);
          expect.soft(judge(value as object), `${name} without type`).toBe(false);
        }
        for (const value of bad)
          expect
            .soft(judge({ type: 'success', ...(value as object) }), `${name} ${JSON.stringify(value)}`)
            .toBe(false);
      }
    },
  );

  verifies(
    'KIT-RESP-1',
    'resultOf takes the success, an error and a login, and renders to an object schema',
    () => {
      for (const [name, schema, good, bad] of table) {
        const judge = judgeOf(resultOf(schema as ReturnType<typeof item<typeof file>>));
        for (const value of good)
          expect.soft(judge({ type: 'success', ...(value as object) }), name).toBe(true);
        for (const value of bad)
          expect.soft(judge({ type: 'success', ...(value as object) }), name).toBe(false);
        expect(judge(error('Gone', 'NOT_FOUND').structuredContent)).toBe(true);
        expect(judge(error('Gone').structuredContent)).toBe(true);
        expect(judge(buildAuthResponse('Sign in', 'https://login.example').structuredContent)).toBe(true);
        for (const wrong of [
          null,
          [],
          {},
          { type: 'other' },
          { type: 'error' },
          { type: 'auth_required', message: 'x' },
        ])
          expect.soft(judge(wrong), JSON.stringify(wrong)).toBe(false);
      }
    },
  );

  test('the companions are schemas for arguments and members', () => {
    expect(shapeInput().parse(undefined)).toBe('objects');
    expect(select().safeParse('cells').success).toBe(true);
    expect(range().parse('A1:B2')).toBe('A1:B2');
    expect(nextPageToken().parse(undefined)).toBeUndefined();
    expect(isEmpty().parse(true)).toBe(true);
    expect(errorBranch().parse({ type: 'error', message: 'x' })).toEqual({ type: 'error', message: 'x' });
    expect(authRequired().safeParse({ type: 'auth_required', message: 'x' }).success).toBe(false);
  });

  test('types flow from the builders', () => {
    const output = resultOf(items(file, { total: z.int() }));
    type File = { id: string; size: number };
    type Found = { type: 'success'; items: File[]; nextPageToken?: string | undefined; total: number };
    type Failed = { type: 'error'; message: string; code?: string | undefined };
    type Login = { type: 'auth_required'; authUrl: string; message: string };
    expectTypeOf<z.infer<typeof output>>().toEqualTypeOf<Found | Failed | Login>();
    const shaped = shape(file, z.string());
    expectTypeOf<z.infer<typeof shaped>>().toEqualTypeOf<
      | { type: 'success'; shape: 'objects'; items: File[]; nextPageToken?: string | undefined }
      | {
          type: 'success';
          shape: 'arrays';
          columns: string[];
          rows: string[][];
          nextPageToken?: string | undefined;
        }
    >();
    const one = item(file);
    expectTypeOf<z.infer<typeof one>>().toEqualTypeOf<{ type: 'success'; item: File }>();
    const grid = rows(z.number());
    expectTypeOf<z.infer<typeof grid>['rows']>().toEqualTypeOf<number[][]>();
    const found = values(file, z.string());
    expectTypeOf<Extract<z.infer<typeof found>, { select: 'cells' }>['values']>().toEqualTypeOf<File[]>();
    // A handler's result is checked by the compiler against the schema of the tool.
    const answer = (): { structuredContent: z.infer<typeof output> } =>
      success({ items: [{ id: 'a', size: 1 }], total: 1 });
    const shapes = (): { structuredContent: z.infer<typeof shaped> } =>
      success({ shape: 'arrays', columns: [], rows: [['a']] });
    const login = (): { structuredContent: z.infer<typeof output> } =>
      buildAuthResponse('x', 'https://login.example');
    const failed = (): { structuredContent: z.infer<typeof output> } => error('x');
    const sizeless = success({ items: [{ id: 'a' }], total: 1 });
    // @ts-expect-error The size is missing.
    const wrong = (): { structuredContent: z.infer<typeof output> } => sizeless;
    for (const build of [answer, login, failed])
      expect(output.safeParse(build().structuredContent).success).toBe(true);
    expect(shaped.safeParse(shapes().structuredContent).success).toBe(true);
    expect(output.safeParse(wrong().structuredContent).success).toBe(false);
    // @ts-expect-error A result that succeeds has type: 'success'.
    expect(() => resultOf(z.object({ items: z.array(file) }))).toThrow();
  });
});

describe('pages', () => {
  const list = Array.from({ length: 120 }, (_, id) => ({ id }));

  test('pages put together are the list, whatever their sizes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        (length, sizes) => {
          const whole = list.slice(0, length);
          const seen: unknown[] = [];
          let pageToken: string | undefined;
          for (let at = 0; at === 0 || pageToken !== undefined; at++) {
            const pageSize = sizes[at % sizes.length] ?? 1;
            const page = paginate(whole, { query: 'a', pageSize, pageToken });
            expect(page.items.length).toBeLessThanOrEqual(pageSize);
            seen.push(...page.items);
            pageToken = page.nextPageToken;
          }
          expect(seen).toEqual(whole);
        },
      ),
    );
  });

  test('the last page has no token, also where it is full', () => {
    expect(paginate(list.slice(0, 10), { pageSize: 10 })).toEqual({ items: list.slice(0, 10) });
    expect(paginate([], {})).toEqual({ items: [] });
    expect(paginate(list, {}).items).toHaveLength(50);
  });

  test('a page behind the end of a list that became shorter is empty', () => {
    const { nextPageToken: pageToken } = paginate(list, { pageSize: 100 });
    expect(paginate(list.slice(0, 30), { pageToken })).toEqual({ items: [] });
  });

  test('a token fits the same query only, in whatever order its arguments are', () => {
    const query = { text: 'a', filter: { from: 1, to: 2 } };
    const { nextPageToken: pageToken } = paginate(list, { ...query, pageSize: 10 });
    expect(
      paginate(list, { filter: { to: 2, from: 1 }, text: 'a', pageSize: 5, pageToken }).items[0],
    ).toEqual({ id: 10 });
    for (const other of [
      {},
      { text: 'b', filter: query.filter },
      { ...query, filter: { from: 1, to: 3 } },
      { ...query, more: 1 },
    ])
      expect(() => paginate(list, { ...other, pageToken })).toThrow(INVALID);
  });

  test('a token that is not ours is refused with what to do', () => {
    const encode = (value: unknown): string =>
      `p1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
    const hash = JSON.parse(Buffer.from(writePageToken(1, {}).slice(3), 'base64url').toString()) as [
      number,
      string,
    ];
    const forged = [
      [-1, hash[1]],
      [1.5, hash[1]],
      ['1', hash[1]],
      [null, hash[1]],
      [1e300, hash[1]],
      [1, 'x'],
      [1],
      {},
      null,
      7,
    ].map(encode);
    for (const pageToken of ['', 'x', '10', 'p1.', 'p1.!!', `p1.${'A'.repeat(10_000)}`, ...forged]) {
      expect.soft(() => paginate(list, { pageToken }), pageToken).toThrow(INVALID);
      expect
        .soft(() => paginate(list, { pageToken }), pageToken)
        .toThrow(/^pageToken does not belong to this query: send/);
    }
  });

  test('any text as a token is refused or read, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `p1.${text}`),
        ),
        (pageToken) => {
          expect(() => paginate(list, { pageToken })).toThrow(INVALID);
        },
      ),
    );
  });

  test("a service's own token is a position, too", () => {
    const args = { q: 'x' };
    expect(readPageToken(writePageToken('CAUQAA==', args), args)).toBe('CAUQAA==');
    expect(() => paginate(list, { ...args, pageToken: writePageToken('CAUQAA==', args) })).toThrow(INVALID);
  });

  test('a size other than a whole number from 1 is refused', () => {
    for (const pageSize of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => paginate(list, { pageSize })).toThrow(INVALID);
  });

  test('the arguments have a default and a largest size', () => {
    const schema = z.object({ text: z.string(), ...pageInput() });
    expect(schema.parse({ text: 'a' })).toEqual({ text: 'a', pageSize: 50 });
    for (const pageSize of [0, 201, 1.5])
      expect(schema.safeParse({ text: 'a', pageSize }).success).toBe(false);
    expect(z.object(pageInput({ defaultSize: 5, largestSize: 9 })).parse({})).toEqual({ pageSize: 5 });
    expect(z.object(pageInput({ largestSize: 9 })).safeParse({ pageSize: 10 }).success).toBe(false);
    expectTypeOf<z.infer<typeof schema>>().toEqualTypeOf<{
      text: string;
      pageSize: number;
      pageToken?: string | undefined;
    }>();
  });
});

describe('fields', () => {
  interface Mail {
    id: string;
    from?: string;
    size?: number | undefined;
  }
  const mails: Mail[] = [
    { id: '1', from: 'a', size: 0 },
    { id: '2', size: undefined },
  ];
  const allowed = ['id', 'from', 'size'] as const;

  test('only the named fields are returned, each once, and id only where it is named', () => {
    expect(pickFields(mails, ['from', 'from'], allowed)).toEqual([{ from: 'a' }, {}]);
    expect(pickFields(mails, undefined, allowed)).toEqual(mails);
    expect(pickFields(mails, undefined, ['id'])).toEqual([{ id: '1' }, { id: '2' }]);
    expectTypeOf(pickFields(mails, ['id'], allowed)).toEqualTypeOf<Partial<Mail>[]>();
    // @ts-expect-error Items have no such field.
    expect(pickFields(mails, undefined, ['to'])).toEqual([{}, {}]);
  });

  test('a table has a cell for each column, null where an item has none', () => {
    expect(toColumns(mails, undefined, allowed)).toEqual({
      columns: ['id', 'from', 'size'],
      rows: [
        ['1', 'a', 0],
        ['2', null, null],
      ],
    });
    expect(toColumns(mails, ['size', 'id'], allowed)).toEqual({
      columns: ['size', 'id'],
      rows: [
        [0, '1'],
        [null, '2'],
      ],
    });
    expect(toColumns([], undefined, allowed)).toEqual({ columns: [...allowed], rows: [] });
  });

  test('an unknown field is an error that names the allowed ones', () => {
    for (const fields of [['to'], ['id', 'to'], ['constructor'], ['__proto__'], [''], ['ID']]) {
      for (const choose of [pickFields, toColumns]) {
        expect.soft(() => choose(mails, fields, allowed), fields.join(',')).toThrow(INVALID);
        expect
          .soft(() => choose(mails, fields, allowed))
          .toThrow(/^Unknown field '.*'; allowed are id, from, size$/);
      }
    }
    expect(() => pickFields(mails, [], allowed)).toThrow('fields must name at least one of id, from, size');
  });

  test('__proto__ is a name like any other', () => {
    const odd = [JSON.parse('{"__proto__":{"isAdmin":true},"id":"1"}'), { id: '2' }] as Record<
      string,
      unknown
    >[];
    const [first, second] = pickFields(odd, ['__proto__'], ['__proto__', 'id']);
    expect(Object.keys(first ?? {})).toEqual(['__proto__']);
    expect(first).not.toHaveProperty('isAdmin');
    expect(Object.keys(second ?? {})).toEqual([]);
    expect(toColumns(odd, ['__proto__'], ['__proto__', 'id']).rows).toEqual([[{ isAdmin: true }], [null]]);
    expect(toColumns([{ id: 1 }] as Record<string, unknown>[], ['toString'], ['toString']).rows).toEqual([
      [null],
    ]);
  });

  test('the shape is objects unless arrays are asked for', () => {
    expect(inShape(mails, {}, ['id'])).toEqual({ shape: 'objects', items: [{ id: '1' }, { id: '2' }] });
    expect(inShape(mails, { shape: 'arrays', fields: ['id'] }, allowed)).toEqual({
      shape: 'arrays',
      columns: ['id'],
      rows: [['1'], ['2']],
    });
  });

  test('the argument names the allowed fields in its error', () => {
    const schema = fieldsInput(['id', 'from']);
    expect(schema.parse(undefined)).toBeUndefined();
    expect(schema.parse(['id'])).toEqual(['id']);
    expect(schema.safeParse([]).success).toBe(false);
    expect(schema.safeParse(['to']).error?.message).toMatch(/"id".*"from"/s);
    expectTypeOf<z.infer<typeof schema>>().toEqualTypeOf<('id' | 'from')[] | undefined>();
  });
});
