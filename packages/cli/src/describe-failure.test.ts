import { ChildServerError, ConfigError, ConfigErrorCode, ErrorPhase } from '@weir/gateway';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { UsageError } from './arguments.ts';
import { describeFailure } from './describe-failure.ts';

verifies('AGG-CLI-1', 'wrong usage is followed by the usage', () => {
  expect(describeFailure(new UsageError('Unknown option: --x'))).toMatchInlineSnapshot(`
    "Unknown option: --x

    Usage: weir --config FILE [options]
    Try 'weir help' for all options and commands, or 'weir serve --demo'."
  `);
});

verifies('AGG-CFG-3', 'a config that cannot be used is described by the gateway', () => {
  const error = new ConfigError('Config file not found: /etc/mcp.json', ConfigErrorCode.FILE_NOT_FOUND);
  expect(describeFailure(error)).toContain(error.message);
});

verifies('AGG-CHILD-2', 'a server that failed is named, and how to go on', () => {
  const error = new ChildServerError("Server 'db' did not start", 'db', ErrorPhase.STARTUP);
  expect(describeFailure(error)).toBe(
    "Server 'db' did not start\nAll servers have been stopped. Mend 'db', or start without it by --keep-going.",
  );
});

verifies('AGG-CFG-3', 'a relative path in a folder that was deleted is no mistake of ours', () => {
  const error = Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { syscall: 'uv_cwd' });
  expect(describeFailure(error)).toBe('The folder that Weir was started in is gone: change to another one.');
});

test('a mistake of our own comes with what helps to find it', () => {
  const text = describeFailure(new TypeError('x is not a function'));
  expect(text).toMatch(
    /^Weir has failed through a mistake of its own\..*\nTypeError: x is not a function\n {4}at /u,
  );
  expect(describeFailure('odd')).toContain('\nodd');
});
