import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { redactor } from './redact.ts';

const redact = redactor(() => ({
  mcpServers: {
    a: { command: 'x', env: { KEY: 'hunter2secret', SHORT: 'on', LONGER: 'hunter2secret-and-more' } },
    c: { command: 'x', args: ['serve', 'folder/of/mine', '--api-key', 'correct-horse', '--port', '123456'] },
    d: { command: 'x', args: ['--token=tr0ub4dor', '-e', 'DB_PASSWORD=a=b$&c', '--name=plain-name'] },
    e: { url: 'https://me%40x:p%2Fassword@e.example/mcp?exaApiKey=1f2e3d4c&v=2' },
    f: { sseConfig: { url: 'https://f.example/sse?code=zyxwvu' } },
    b: { url: 'https://b.example', headers: { Authorization: 'Bearer abcdef123456' } },
  },
}));

verifies(
  'HEALTH-7',
  'redactor hides env values, headers and arguments that the config gives to servers',
  () => {
    expect(redact('key hunter2secret is wrong')).toBe('key [hidden] is wrong');
    expect(redact('hunter2secret-and-more')).toBe('[hidden]');
    expect(redact('abcdef123456 has expired')).toBe('[hidden] has expired');
    expect(redact('turned on')).toBe('turned on');
    expect(redact('correct-horse is no key')).toBe('[hidden] is no key');
    expect(redact('no folder/of/mine at 123456')).toBe('no folder/of/mine at 123456');
  },
);

verifies('HEALTH-7', 'redactor hides secrets in URLs and in arguments with an equals sign', () => {
  expect(redact('tr0ub4dor is no token of plain-name')).toBe('[hidden] is no token of plain-name');
  expect(redact('login failed: a=b$&c')).toBe('login failed: [hidden]');
  expect(redact('1f2e3d4c and zyxwvu are unknown at e.example/mcp')).toBe(
    '[hidden] and [hidden] are unknown at e.example/mcp',
  );
  expect(redact('no p/assword, no p%2Fassword')).toBe('no [hidden], no [hidden]');
});

test.each([
  ['GITHUB_TOKEN=abc is wrong', 'GITHUB_TOKEN=[hidden] is wrong'],
  ['GET /mcp?tavilyApiKey=tvly-x&v=2', 'GET /mcp?tavilyApiKey=[hidden]&v=2'],
  ['401 for Bearer eyJhbGci.x', '401 for Bearer [hidden]'],
  ['GET /?api_key=s3cr3t&x=1', 'GET /?api_key=[hidden]&x=1'],
  ['{"password": "p w"}', '{"password": "[hidden] w"}'],
  ['https://me:pw@host/x', 'https://[hidden]@host/x'],
  ['sk-proj-abcdefghijklmnop is wrong', '[hidden] is wrong'],
  ['ghp_abcdefghijklmnop123 has expired', '[hidden] has expired'],
  ['a sk-ill and a ghp_x', 'a sk-ill and a ghp_x'],
  ['the key is missing', 'the key is missing'],
])('redactor hides secrets and nothing else in %s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test('redactor cuts a text of 10,000 characters to less than 600', () => {
  expect(redact('x'.repeat(10_000)).length).toBeLessThan(600);
});

verifies('HEALTH-7', 'M6: redactor shows no part of a secret where it cuts a long text', () => {
  const long = `-----BEGIN KEY-----\n${'AbCd'.repeat(700)}`;
  const secrets = redactor(() => ({
    mcpServers: { a: { command: 'x', env: { LONG: long, KEY: 'hunter2secret' } } },
  }));
  for (const secret of [long, 'hunter2secret', 'Bearer abcdefghij', 'https://me:hunter@host/']) {
    for (let before = 0; before < 4200; before += 7) {
      const shown = secrets(`${'a '.repeat(before / 2)}${`${secret} `.repeat(6000 / secret.length)}`);
      expect(shown.length).toBeLessThanOrEqual(501);
      expect(shown).not.toMatch(/AbCd|BEGIN|hunter|abcd/u);
    }
  }
});
