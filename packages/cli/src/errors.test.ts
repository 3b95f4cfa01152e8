import { ChildServerError, ConfigError, ConfigErrorCode, ErrorPhase } from '@weir/gateway';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { CliError, describeError, UsageError } from './errors.ts';

verifies('AGG-CLI-1', 'describeError prints only the message of an error of the command', () => {
  for (const error of [new UsageError('Unknown option: --x'), new CliError('Port 1 is in use')])
    expect(describeError(error)).toBe(error.message);
});

verifies('AGG-CFG-3', "describeError prints the gateway's description of a config error", () => {
  const error = new ConfigError('Config file not found: /etc/mcp.json', ConfigErrorCode.FILE_NOT_FOUND);
  expect(describeError(error)).toContain(error.message);
});

verifies('AGG-CHILD-2', 'describeError names a failed server and the option to start without it', () => {
  const error = new ChildServerError("Server 'db' did not start", 'db', ErrorPhase.STARTUP);
  expect(describeError(error)).toBe(
    "Server 'db' did not start\nAll servers were stopped. Fix 'db', or start without it: --keep-going",
  );
});

verifies(
  'AGG-CFG-3',
  'describeError reports a deleted current folder as such, not as an internal error',
  () => {
    const error = Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), {
      syscall: 'uv_cwd',
    });
    expect(describeError(error)).toBe('The current folder was deleted: change to another one.');
  },
);

test('describeError prints an internal error with its stack', () => {
  const text = describeError(new TypeError('x is not a function'));
  expect(text).toMatch(/^Internal error\. .*\nTypeError: x is not a function\n {4}at /u);
  expect(describeError('odd')).toContain('\nodd');
});
