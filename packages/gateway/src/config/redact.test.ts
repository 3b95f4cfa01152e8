import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { redactor } from './redact.ts';

const redact = redactor(() => ({
  mcpServers: {
    a: { command: 'x', env: { KEY: 'hunter2secret', SHORT: 'on', LONGER: 'hunter2secret-and-more' } },
    c: { command: 'x', args: ['serve', 'folder/of/mine', '--api-key', 'correct-horse', '--port', '123456'] },
    b: { url: 'https://b.example', headers: { Authorization: 'Bearer abcdef123456' } },
  },
}));

verifies('HEALTH-7', 'values that the config gives its servers are taken out', () => {
  expect(redact('key hunter2secret is wrong')).toBe('key [hidden] is wrong');
  expect(redact('hunter2secret-and-more')).toBe('[hidden]');
  expect(redact('abcdef123456 has expired')).toBe('[hidden] has expired');
  expect(redact('turned on')).toBe('turned on');
  expect(redact('correct-horse is no key')).toBe('[hidden] is no key');
  expect(redact('no folder/of/mine at 123456')).toBe('no folder/of/mine at 123456');
});

test.each([
  ['401 for Bearer eyJhbGci.x', '401 for Bearer [hidden]'],
  ['GET /?api_key=s3cr3t&x=1', 'GET /?api_key=[hidden]&x=1'],
  ['{"password": "p w"}', '{"password": "[hidden] w"}'],
  ['https://me:pw@host/x', 'https://[hidden]@host/x'],
  ['sk-proj-abcdefghijklmnop is wrong', '[hidden] is wrong'],
  ['ghp_abcdefghijklmnop123 has expired', '[hidden] has expired'],
  ['a sk-ill and a ghp_x', 'a sk-ill and a ghp_x'],
  ['the key is missing', 'the key is missing'],
])('%s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test('long ones are cut', () => {
  expect(redact('x'.repeat(10_000)).length).toBeLessThan(600);
});
