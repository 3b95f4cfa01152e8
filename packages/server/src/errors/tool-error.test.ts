import { isCallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import {
  createHttpError,
  handleToolError,
  toErrorBranch,
  type ErrorBranch,
  type HttpError,
} from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Credentials that no client may see, in the forms that they have in messages. */
const CANARIES: readonly string[] = [
  'Bearer c4n4ry.bearer-value',
  'xBearer c4n4ry',
  'Bearer token-c4n4ry',
  'Bearer authc4n4ry',
  "password: 'c4n4ry",
  'password=a)c4n4ry;c4n4ry&c4n4ry,c4n4ry',
  "passphrase = don't-c4n4ry",
  'Authorization: Basic Y2FuYXJ5OmNhbmFyeQ==',
  'Cookie: sid=c4n4ry; other=c4n4ry',
  'https://app.example/callback?code=c4n4ry-code&state=1',
  'client_secret=c4n4ry-secret',
  'https://app.example/?next=%2Fcb%3Fcode%3Dc4n4ry%26access_token%3Dc4n4ry',
  'the password "c4n4ry pass" is wrong',
  'AccountName=a;AccountKey=c4n4ry==;Password=c4n4ry',
  'X-Api-Key: c4n4ry',
  '{"client_secret":"c4n4ry \\" secret","n":1}',
  "{ password: 'c4n4ry pass' }",
  'PASSWORD=c4n4ry',
  '--api-key c4n4ry',
  'sk-proj-c4n4ryc4n4ryc4n4ry',
  'ghp_c4n4ryc4n4ryc4n4ryc4n4ryc4n4ryc4n4ry',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjNG40cnkifQ.c4n4ry-signature',
  '-----BEGIN PRIVATE KEY-----\nc4n4ry\nc4n4ry\n-----END PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\nc4n4ry',
  'postgres://admin:c4n4ry@db.example/main',
  'postgres://admin:c4n/4ry@c4n4ry@db.example/main',
  'AIzaSyc4n4ryc4n4ryc4n4ry',
  'GOCSPX-c4n4ryc4n4ry',
  'C4N4RYc4n4ryC4N4RYc4n4ryC4N4RYc4n4ryABC',
  'pass=c4n4ry',
  'DB_PASS=c4n4ry',
  '{"pass":"c4n4ry"}',
  'auth=c4n4ry',
  'pat=c4n4ry',
  'passphrase: a b c4n4ry',
  'password=correct c4n4ry',
  'password: correct horse c4n4ry',
  'PASSWORD c4n4ry',
  'the passphrase is c4n4ry',
  'SECRET_KEY c4n4ry',
  '"password": [ "c4n4ry" ]',
  '"password": [\n  "c4n4ry"\n]',
  '{"password": { "value": "c4n4ry" }}',
  '[["password","c4n4ry"]]',
  '[ "db_password" , "c4n4ry pass"]',
  '{"name":"password","value":"c4n4ry"}',
  '{ "name": "X-Api-Key", "value": "c4n4ry pass" }',
  'user:c4n4ry@db:5432',
  'user:c4n/4:ry@c4n4ry@db.example:5432',
  'user:c4n4ry@tcp(db:3306)/main',
  'https://user:pa c4n4ry@h/',
  'mysql -u root -pc4n4ry',
  "mysqldump -h db -p'c4n4ry pass' main",
  'https://hooks.slack.com/services/T000/B000/c4n4ry',
  'https://discord.com/api/webhooks/123/c4n4ry',
  'https://discordapp.com/api/v10/webhooks/123/c4n4ry',
];
const PATHS: readonly string[] = [
  '/home/c4n4ry/file.txt',
  "'/home/c4n4ry/with space/c4n4ry.txt'",
  '/srv/My Files/c4n4ry.txt',
  '/var/lib/a (1)/c4n4ry.txt',
  '~/c4n4ry/x',
  '//etc/c4n4ry',
  'C:\\Users\\c4n4ry\\x.txt',
  'C:\\Users\\John Doe\\c4n4ry.txt',
  'd:/c4n4ry/x.txt',
  '\\\\host\\c4n4ry\\x.txt',
  'file:///home/c4n4ry/x.txt',
  'file:///C:/c4n4ry/x.txt',
  '"/etc/it\'s/c4n4ry"',
  'https://example.com/?file=/etc/c4n4ry',
  '\\Users\\c4n4ry',
  '\\Program Files\\c4n4ry\\x',
  'C:Users\\c4n4ry',
  '../../c4n4ry/x',
  '..\\..\\c4n4ry',
  '%2Fhome%2Fc4n4ry',
  'https://example.com/?file=%2Fetc%2Fc4n4ry',
];
const STACK =
  '\n    at fn (/home/c4n4ry/x.js:10:20)\n    at async Object.<anonymous> (file:///c4n4ry.js:1:2)';

function logger(): Logger & { readonly texts: string[] } {
  const texts: string[] = [];
  const take = (message: string, ...more: unknown[]): void =>
    void texts.push([message, ...more].map(String).join(' '));
  return { texts, debug: take, info: take, warn: take, error: take };
}

function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Errors of all kinds, with a text that must not be seen in each place where an error has texts. */
function thrownWith(text: string): unknown[] {
  const circle: Error & { cause?: unknown } = new Error(text);
  circle.cause = new Error(text, { cause: circle });
  return [
    text,
    new Error(text),
    new Error('Request failed', { cause: new Error(text) }),
    circle,
    new AggregateError([new Error(text), text], ''),
    new AggregateError([new Error(text)], text),
    Object.assign(new Error('failed'), { stack: text, config: { headers: { authorization: text } } }),
    Object.assign(new Error('failed'), { name: text, code: text }),
    { message: text, code: text, status: 404 },
    { toString: () => text },
    Object.assign(new Error(''), { code: 'ENOENT', path: text }),
    new Proxy(new Error(text), {}),
  ];
}

/** Values that throw when they are looked at. */
function hostile(): unknown[] {
  const fail = (): never => {
    throw new Error('looked at');
  };
  const handler = new Proxy({}, { get: () => fail });
  const error = new Error('boom');
  for (const name of ['stack', 'message', 'name', 'code', 'cause', 'status', 'errors', 'response'])
    Object.defineProperty(error, name, { get: fail });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return [
    new Proxy(new Error('boom'), handler),
    new Proxy({}, handler),
    new Proxy(() => undefined, handler),
    error,
    proxy,
    {
      get message() {
        return fail();
      },
    },
    { errors: new Proxy([], handler) },
    Object.create(null),
    { [Symbol.toPrimitive]: fail, toString: fail },
    { [Symbol.for('nodejs.util.inspect.custom')]: fail },
    Symbol('boom'),
  ];
}

describe('handleToolError', () => {
  verifies('KIT-ERR-1', 'an error becomes a result with isError, its text and an error branch', () => {
    expect(handleToolError(createHttpError(404, 'No such note'))).toEqual({
      content: [{ type: 'text', text: 'Error: No such note' }],
      structuredContent: { type: 'error', message: 'No such note', code: 'NOT_FOUND' },
      isError: true,
    });
  });

  verifies('KIT-ERR-1', 'the log gets stack, causes and paths under an id that the text repeats', () => {
    const log = logger();
    const cause = new Error("ENOENT: open '/srv/data/notes.db'");
    const result = handleToolError(new Error('Cannot read notes', { cause }), log);
    const id = /^Error: Cannot read notes \(error id: ([\da-f]{8})\)$/.exec(textOf(result))?.[1];
    expect(id).toBeDefined();
    expect(log.texts).toHaveLength(1);
    for (const part of [id, 'Cannot read notes', 'tool-error.test.ts', '/srv/data/notes.db', 'cause'])
      expect(log.texts[0]).toContain(part);
    expect(result.structuredContent).toMatchObject({ message: `Cannot read notes (error id: ${id})` });
  });

  test('two errors have two ids', () => {
    const log = logger();
    expect(textOf(handleToolError('a', log))).not.toBe(textOf(handleToolError('a', log)));
  });

  verifies('KIT-ERR-1', 'a protocol error is thrown on, as it is', () => {
    const other = Object.assign(new Error('from another copy'), { name: 'ProtocolError', code: -32602 });
    const errors = [
      new ProtocolError(ProtocolErrorCode.InvalidParams, 'bad'),
      Object.assign(new Error('of the first major version'), { name: 'McpError', code: -32602 }),
      other,
    ];
    for (const error of errors) {
      const log = logger();
      expect(() => handleToolError(error, log)).toThrow(error);
      expect(log.texts).toEqual([]);
    }
  });

  test('an error of some other JSON-RPC service becomes a result', () => {
    expect(handleToolError(Object.assign(new Error('reverted'), { code: -32000 }))).toMatchObject({
      isError: true,
      structuredContent: { message: 'reverted' },
    });
  });

  test('a logger that throws costs the id and not the result', () => {
    const fail = (): never => {
      throw new Error('disk full');
    };
    const result = handleToolError(new Error('boom'), { debug: fail, info: fail, warn: fail, error: fail });
    expect(textOf(result)).toBe('Error: boom');
  });

  test('a message with line breaks stays one record of the log', () => {
    const log = logger();
    handleToolError(new Error('boom\n2026-01-01 admin logged in\u001b[31m\r\nINFO forged'), log);
    const lines = log.texts.join('').split('\n').slice(1);
    expect(lines.filter((line) => !line.startsWith('    '))).toEqual([]);
    expect(log.texts.join('')).not.toContain('\u001b');
  });

  verifies(
    'KIT-ERR-1',
    'no credential, path or stack reaches the client, in whatever error it stands',
    () => {
      for (const secret of [...CANARIES, ...PATHS, `boom${STACK}`]) {
        for (const text of [secret, `failed: ${secret}`, `(${secret})`, `a ${secret}, b\nc`]) {
          for (const thrown of thrownWith(text)) {
            const seen = JSON.stringify(handleToolError(thrown, logger()));
            expect.soft(seen, `thrown with ${text}`).not.toMatch(/c4n4ry|YW5hcnk|Y2FuYXJ5|\n\s+at /i);
          }
        }
      }
    },
  );

  test('the log has no credential either', () => {
    for (const secret of CANARIES) {
      for (const thrown of thrownWith(`failed: ${secret}`)) {
        const log = logger();
        handleToolError(thrown, log);
        expect.soft(log.texts.join(''), secret).not.toMatch(/c4n4ry/i);
      }
    }
  });

  test.each([
    ['f'.repeat(64), '[hidden]'],
    [`key ${'0123456789abcdef'.repeat(8)}.`, 'key [hidden].'],
    ['boom\n    at b (c.js:1)\n    at /srv/c4n4ry.ts:12', 'boom'],
    ['password=correct horse, user=ada', 'password=[hidden], user=ada'],
    ['passphrase: a b c; retry', 'passphrase: [hidden]; retry'],
    ['password=hunter2 in "main"', 'password=[hidden]"main"'],
    ['PASSWORD hunter2 refused', 'PASSWORD [hidden] refused'],
    ['cannot reach user:hunter2@db:5432 today', 'cannot reach [hidden]@db:5432 today'],
    ['mysql -u root -phunter2 main', 'mysql -u root -p[hidden] main'],
    ['https://user:pa ss@h/x', 'https://[hidden]@h/x'],
    [
      'post to https://hooks.slack.com/services/T/B/x failed',
      'post to https://hooks.slack.com/[hidden] failed',
    ],
    ['cannot open ../../secret/x, as it is not there', 'cannot open [path], as it is not there'],
  ])('%j is shown as %j', (text, shown) => {
    expect(toErrorBranch(text).message).toBe(shown);
  });

  test.each([
    'The password is too short',
    'password is required',
    'Password must have at least 8 characters',
    'password authentication failed for user "ada"',
    'The password of ada has expired: reset it',
    'The passphrase was not 4096 bits',
    'The secret key does not exist',
    'secret is 32 bytes long',
    'use a password manager',
    'pass the id of a book',
    'pass 2 numbers, or pass: no',
    'bypass=true and compass=north',
    'auth failed',
    'auth: try again, or author=ada',
    'path of the file',
    'the pattern=x has no match',
    'see a/b testing',
    '12:30@noon',
    'mail ada@example.com at 12:30, port 80:443',
    'mailto:ada@example.com',
    'npm:left-pad@1.3.0 was not found',
    'git@github.com:org/repo',
    'https://example.com:8080 failed for ada@example.com',
    'the commit 0123456789abcdef0123456789abcdef01234567 is missing',
    'md5 0123456789abcdef0123456789abcdef',
    `sha256:${'0a'.repeat(32)}`,
    'fields ["password", "email", "name"] are needed',
    '{"name":"color","value":"red"}',
    'mysql -p is refused; so is ssh -p2222',
    'ssh -p2222',
    'see https://discord.com/channels/1/2',
    'we meet\nat noon (12:30)',
    'lost\nat example.com:80',
    'wait ... and/or try 1../2',
    'the ratio a:b and the regular expression \\d\\w+',
    'redirect=https%3A%2F%2Fapp.example%2Fhome%2Fcb',
  ])('%j stays as it is', (text) => {
    expect(toErrorBranch(text).message).toBe(text);
  });

  verifies('KIT-ERR-1', 'a value that throws when it is read becomes a result', () => {
    for (const thrown of hostile()) {
      const result = handleToolError(thrown, logger());
      expect(isCallToolResult(result)).toBe(true);
      expect(JSON.stringify(result)).not.toContain('looked at');
    }
  });

  verifies('KIT-ERR-1', 'the SDK accepts the result of any thrown value, and no canary is in it', () => {
    const secret = fc.constantFrom(...CANARIES, ...PATHS, STACK);
    const text = fc
      .tuple(fc.string({ unit: 'binary' }), fc.constantFrom(' ', '\n', ': ', ' ('), secret)
      .map((parts) => parts.join(''));
    const thrown = fc.oneof(
      text.chain((value) => fc.constantFrom(...thrownWith(value))),
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
    );
    fc.assert(
      fc.property(thrown, fc.boolean(), (value, isLogged) => {
        const result = handleToolError(value, isLogged ? logger() : undefined);
        expect(isCallToolResult(result)).toBe(true);
        expect(result.isError).toBe(true);
        const { type, message } = result.structuredContent as { type: string; message: string };
        expect(type).toBe('error');
        expect(textOf(result)).toBe(`Error: ${message}`);
        expect(message.trim()).not.toBe('');
        expect(JSON.stringify(result)).not.toMatch(/c4n4ry|\n\s+at .*:\d+:\d+/i);
      }),
      { numRuns: 500 },
    );
  });

  test('a huge message is cut, without half of a secret', () => {
    const { structuredContent } = handleToolError(new Error('long '.repeat(1_000_000)));
    expect((structuredContent as { message: string }).message).toHaveLength(2000);
    for (let at = 8150; at < 8200; at++) {
      const { message } = toErrorBranch(`${'x '.repeat(at / 2)}token=c4n4ry-c4n4ry ghp_c4n4ryc4n4ryc4n4ry`);
      expect(message).not.toMatch(/c4n/);
    }
  });

  test('a text of 100 kB made to hold up the patterns is cleaned in milliseconds', () => {
    const parts = [
      '/',
      '"/',
      'a:',
      '://',
      'x:a@',
      'token=',
      ' key',
      '(',
      ' at (',
      'eyJ',
      '-----BEGIN ',
      '\\\\',
      '\\"',
      'A1a',
      '~/',
      ' a/',
      "'/a",
      'A1a/',
      'password ',
      'password: ',
      'password=,',
      'pass=;',
      '"password": [',
      'password={',
      '["password",',
      '["password","\\',
      '"name":"password",',
      '{"name":"',
      'a:b@',
      'a:@b',
      'u:p@h:',
      '://u:p ',
      '://u:p p ',
      'mysql ',
      'mysql -p ',
      'hooks.slack.com/',
      'ab',
      '../',
      '..\\',
      '\\Users\\',
      '%2Fhome%2F',
      'C:a',
      'at x.js:1\n',
      '.js:1',
      'secret key is ',
    ];
    for (const part of parts) {
      const text = part.repeat(100_000 / part.length);
      // The best of three: a busy machine holds up one of them.
      const times = [1, 2, 3].map(() => {
        const begin = performance.now();
        toErrorBranch(text);
        return performance.now() - begin;
      });
      expect.soft(Math.min(...times), part).toBeLessThan(100);
    }
  });
});

describe('toErrorBranch', () => {
  verifies('KIT-ERR-1', 'the handler gets an Error whatever was thrown, and its branch is cleaned', () => {
    for (const thrown of [
      'text',
      undefined,
      null,
      42,
      { message: 'boom' },
      new Error('boom'),
      ...hostile(),
    ]) {
      const branch = toErrorBranch(thrown, (error) => {
        expect(error).toBeInstanceOf(Error);
        return { type: 'error', message: 'Nothing at /etc/c4n4ry', code: 'NOTE_GONE' };
      });
      if (branch.code !== undefined)
        expect(branch).toEqual({ type: 'error', message: 'Nothing at [path]', code: 'NOTE_GONE' });
    }
  });

  test('a handler gets the very error that was thrown', () => {
    const error = new RangeError('boom');
    expect(toErrorBranch(error, (given) => ({ type: 'error', message: String(given === error) }))).toEqual({
      type: 'error',
      message: 'true',
    });
  });

  test('a handler that throws or answers nothing is passed over', () => {
    const fail = (): never => {
      throw new Error('in the handler');
    };
    const nothing = (() => undefined) as unknown as () => ErrorBranch;
    expect(toErrorBranch('boom', fail)).toEqual({ type: 'error', message: 'boom' });
    expect(toErrorBranch('boom', nothing)).toEqual({ type: 'error', message: 'boom' });
  });

  test.each<[string, unknown, string]>([
    ['a string', 'boom', 'boom'],
    ['a number', 42, '42'],
    ['false', false, 'false'],
    ['undefined', undefined, 'Unknown error'],
    ['null', null, 'Unknown error'],
    ['an empty string', '', 'Unknown error'],
    ['an object without a message', { token: 'x' }, 'Unknown error'],
    ['an object with a message', { message: 'boom' }, 'boom'],
    ['an error without a message', new Error(''), 'Unknown error'],
    ['an AggregateError without a message', new AggregateError([new Error('refused')], ''), 'refused'],
    ['an error of another realm', Object.assign(Object.create(Error.prototype), { message: 'boom' }), 'boom'],
  ])('the message of %s is found', (_, thrown, message) => {
    expect(toErrorBranch(thrown)).toEqual({ type: 'error', message });
  });

  const error = (members: object): Error => Object.assign(new Error('x'), members);
  test.each<[string, unknown, string | undefined]>([
    ["the author's own code", error({ code: 'QUOTA_EXCEEDED' }), 'QUOTA_EXCEEDED'],
    ["the author's code before the status", error({ code: 'QUOTA_EXCEEDED', status: 429 }), 'QUOTA_EXCEEDED'],
    ["a service's code", error({ code: 'invalid_grant' }), 'invalid_grant'],
    [
      "the status before a service's code",
      error({ code: 'insufficient_quota', status: 429 }),
      'RATE_LIMITED',
    ],
    ['a text with digits in place of a code', error({ code: 'x7ab3' }), undefined],
    ['status', error({ status: 403 }), 'FORBIDDEN'],
    ['statusCode', error({ statusCode: 401 }), 'AUTHENTICATION_REQUIRED'],
    ['the status of a response', error({ code: 'ERR_BAD_REQUEST', response: { status: 404 } }), 'NOT_FOUND'],
    ['a status as text', error({ status: '429' }), 'RATE_LIMITED'],
    ['a status as code', error({ code: 503 }), 'SERVICE_ERROR'],
    ['a status that says success', error({ status: 200 }), undefined],
    ['ENOENT', error({ code: 'ENOENT' }), 'NOT_FOUND'],
    ['EACCES', error({ code: 'EACCES' }), 'FORBIDDEN'],
    [
      'ECONNREFUSED behind a failed fetch',
      new TypeError('fetch failed', { cause: error({ code: 'ECONNREFUSED' }) }),
      'SERVICE_ERROR',
    ],
    ['ETIMEDOUT in an AggregateError', new AggregateError([error({ code: 'ETIMEDOUT' })]), 'TIMEOUT'],
    ['an abort', new DOMException('stop', 'AbortError'), 'CANCELLED'],
    ['a timeout', new DOMException('late', 'TimeoutError'), 'TIMEOUT'],
    ['an errno without a meaning for clients', error({ code: 'EXDEV' }), undefined],
    ['a code of Node', error({ code: 'ERR_INVALID_ARG_TYPE' }), undefined],
    ['a key in place of a code', error({ code: 'AKIAIOSFODNN7EXAMPLE' }), undefined],
    ['a path in place of a code', error({ code: '/etc/passwd' }), undefined],
    ['a name of Object.prototype', error({ code: '__proto__', name: 'toString' }), undefined],
    ['nothing', new Error('x'), undefined],
  ])('%s gives the code', (_, thrown, code) => {
    expect(toErrorBranch(thrown).code).toBe(code);
  });
});

describe('createHttpError', () => {
  verifies('KIT-ERR-1', 'each status has the code of the table', () => {
    const codes: Record<number, string> = {
      400: 'INVALID_REQUEST',
      401: 'AUTHENTICATION_REQUIRED',
      403: 'FORBIDDEN',
      404: 'NOT_FOUND',
      429: 'RATE_LIMITED',
    };
    for (let status = 400; status < 1000; status++) {
      const code = status >= 500 ? 'SERVICE_ERROR' : (codes[status] ?? 'INVALID_REQUEST');
      const error = createHttpError(status);
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ status, code });
      expect(toErrorBranch(error)).toEqual({ type: 'error', message: error.message, code });
    }
  });

  verifies('KIT-ERR-1', 'a status below 400 throws and says what is allowed', () => {
    for (const status of [0, 200, 302, 399, 399.9, 400.5, -404, 1000, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => createHttpError(status)).toThrow(/from 400 to 999.*given/);
  });

  test('message and cause are kept', () => {
    const cause = new Error('socket closed');
    const error = createHttpError(502, 'The upstream is down', cause);
    expect(error).toMatchObject({ message: 'The upstream is down', cause, name: 'HttpError' });
    expect(createHttpError(404).message).toBe('Not found (HTTP 404)');
    expect('cause' in createHttpError(404)).toBe(false);
  });
});

verifies('KIT-ERR-1', 'the functions have the documented types', () => {
  expectTypeOf(handleToolError).toExtend<(error: unknown, logger?: Logger) => CallToolResult>();
  expectTypeOf(toErrorBranch).toExtend<
    (error: unknown, customHandler?: (error: Error) => ErrorBranch) => ErrorBranch
  >();
  expectTypeOf(createHttpError).toEqualTypeOf<
    (status: number, message?: string, cause?: unknown) => HttpError
  >();
  expectTypeOf<ErrorBranch>().toEqualTypeOf<{ type: 'error'; message: string; code?: string }>();
});
