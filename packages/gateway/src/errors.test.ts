import { describe, expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import {
  ChildServerError,
  ConfigError,
  ConfigErrorCode,
  ErrorPhase,
  quoted,
  RpcError,
  RpcErrorCode,
} from './errors.ts';

describe('errors', () => {
  verifies(['AGG-CFG-3', 'AGG-API-1'], 'a ConfigError carries its code and details', () => {
    const error = new ConfigError('No such file', ConfigErrorCode.FILE_NOT_FOUND, { path: 'x.json' });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'ConfigError',
      message: 'No such file',
      code: 'file_not_found',
      details: { path: 'x.json' },
    });
    expect(Object.values(ConfigErrorCode)).toEqual([
      'file_not_found',
      'invalid_json',
      'invalid_schema',
      'missing_env_var',
    ]);
  });

  test('an RpcError carries no stack, and other errors keep theirs', () => {
    const error = new RpcError(RpcErrorCode.INTERNAL, 'No');
    expect(error.stack).toBe('RpcError: No');
    expect(new Error('here').stack).toContain('errors.test');
  });

  test('a ChildServerError names the server, the phase and the cause', () => {
    const cause = new Error('spawn nope ENOENT');
    const error = new ChildServerError('No command', 'postgres', ErrorPhase.STARTUP, cause);
    expect(error).toMatchObject({ name: 'ChildServerError', serverKey: 'postgres', phase: 'startup' });
    expect(error.cause).toBe(cause);
    expect(error.message).toBe('No command');
    expect(Object.values(ErrorPhase)).toEqual(['startup', 'initialization', 'runtime']);
  });

  test('a ChildServerError without a cause has no cause property', () => {
    const error = new ChildServerError('It crashed', 'files', ErrorPhase.RUNTIME);
    expect(error.message).toBe('It crashed');
    expect('cause' in error).toBe(false);
  });

  test('an RpcError carries a JSON-RPC code and data', () => {
    const error = new RpcError(RpcErrorCode.INVALID_PARAMS, 'No such tool', { name: 'a:b' });
    expect(error).toMatchObject({ name: 'RpcError', code: -32602, message: 'No such tool' });
    expect(error.data).toEqual({ name: 'a:b' });
  });

  test("error texts repeat at most 200 characters of a client's input", () => {
    expect(quoted('x'.repeat(200))).toBe('x'.repeat(200));
    expect(quoted('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
    expect(quoted(`x${'😀'.repeat(200)}`)).toBe(`x${'😀'.repeat(99)}…`);
  });

  test('RpcErrorCode holds the codes of the protocol', () => {
    expect(RpcErrorCode).toEqual({
      PARSE_ERROR: -32700,
      INVALID_REQUEST: -32600,
      METHOD_NOT_FOUND: -32601,
      INVALID_PARAMS: -32602,
      INTERNAL: -32603,
      UNAVAILABLE: -32000,
      MISSING_CAPABILITY: -32021,
      HEADER_MISMATCH: -32020,
      UNSUPPORTED_VERSION: -32022,
    });
  });
});
