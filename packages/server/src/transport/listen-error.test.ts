import { expect, test } from 'vitest';
import { explainListenError } from './listen-error.ts';

function explained(code: string): Error & { code?: string } {
  return explainListenError(Object.assign(new Error('listen failed'), { code }), '127.0.0.1', 80);
}

test.each([
  [
    'EADDRINUSE',
    'Port 80 on 127.0.0.1 is already in use by another process. Stop it, or choose another port',
  ],
  [
    'EACCES',
    'Port 80 on 127.0.0.1 is not allowed for this user. Choose a port from 1024 up, or allow the process to use lower ones',
  ],
  [
    'EADDRNOTAVAIL',
    '127.0.0.1 is not an address of this machine. Listen on 127.0.0.1, or on 0.0.0.0 for all addresses',
  ],
  ['ENOTFOUND', '127.0.0.1 is not the name of an address. Listen on 127.0.0.1 or localhost'],
])('explainListenError of %s names the remedy and keeps the code', (code, message) => {
  expect(explained(code)).toMatchObject({ message, code, cause: { message: 'listen failed' } });
});

test('explainListenError returns any other error as it is', () => {
  expect(explained('EOTHER').message).toBe('listen failed');
});
