import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { isHostSafe, joinName, parseToolPrefix, validateSeparator, validateToolName } from './names.ts';

describe('the parts of a public name', () => {
  verifies('AGG-REG-1', 'parseToolPrefix splits a public name at ":" by default', () => {
    expect(parseToolPrefix('files:read')).toEqual({ serverKey: 'files', toolName: 'read' });
    expect(validateToolName('files:read')).toBe(true);
  });

  verifies('AGG-REG-1', 'parseToolPrefix accepts a separator of several characters', () => {
    expect(parseToolPrefix('files__read', '__')).toEqual({ serverKey: 'files', toolName: 'read' });
    expect(parseToolPrefix('files::read', '::')).toEqual({ serverKey: 'files', toolName: 'read' });
    expect(parseToolPrefix('files→read', '→')).toEqual({ serverKey: 'files', toolName: 'read' });
    expect(validateToolName('files__read', '__')).toBe(true);
  });

  verifies('AGG-REG-1', 'parseToolPrefix splits a public name at its first separator', () => {
    expect(parseToolPrefix('files:read:all')).toEqual({ serverKey: 'files', toolName: 'read:all' });
    expect(parseToolPrefix('a__b__c', '__')).toEqual({ serverKey: 'a', toolName: 'b__c' });
    expect(validateToolName('files:read:all')).toBe(true);
  });

  verifies('AGG-REG-1', 'parseToolPrefix returns null for a name without a separator', () => {
    for (const [name, separator] of [['read'], [''], ['files:read', '__'], ['files_read', '__']] as const) {
      expect(parseToolPrefix(name, separator)).toBeNull();
      expect(validateToolName(name, separator)).toBe(false);
    }
  });

  verifies('AGG-REG-1', 'parseToolPrefix returns null for a name without a server key', () => {
    for (const [name, separator] of [[':read'], [':'], ['__read', '__'], ['__', '__']] as const) {
      expect(parseToolPrefix(name, separator)).toBeNull();
      expect(validateToolName(name, separator)).toBe(false);
    }
  });

  verifies('AGG-REG-1', 'parseToolPrefix returns null for a name without a tool', () => {
    for (const [name, separator] of [['files:'], ['files__', '__']] as const) {
      expect(parseToolPrefix(name, separator)).toBeNull();
      expect(validateToolName(name, separator)).toBe(false);
    }
  });
});

describe('a separator', () => {
  verifies('AGG-SEP-1', 'validateSeparator refuses an empty separator and one with white space', () => {
    for (const separator of [':', '__', '::', '--', '.', '→', '🔧']) validateSeparator(separator);
    expect(() => validateSeparator('')).toThrow(
      'Separator cannot be empty. Use --separator <chars> to specify a separator (default: ":")',
    );
    for (const separator of [' ', 'a b', '\t', '_\n', '\u00a0'])
      expect(() => validateSeparator(separator)).toThrow(
        'Separator cannot contain whitespace. Use non-whitespace characters like "__" or "-"',
      );
  });
});

describe('a public name with a host-safe separator', () => {
  const long = (length: number): string => 'x'.repeat(length - 's__'.length);

  verifies('AGG-SEP-3', 'a public name with a host-safe separator has at most 64 characters', () => {
    expect(joinName('s', long(64), '__')).toBe(`s__${long(64)}`);
    const shortened = joinName('s', long(65), '__');
    expect(shortened).toHaveLength(64);
    expect(shortened).toMatch(/^s__x+_[0-9a-f]{8}$/u);
    expect(joinName('s', long(65), '__')).toBe(shortened);
    expect(joinName('s', long(66), '__')).not.toBe(shortened);
    expect(isHostSafe('x'.repeat(64))).toBe(true);
    expect(isHostSafe('x'.repeat(65))).toBe(false);
    expect(isHostSafe('a:b')).toBe(false);
  });

  verifies('AGG-SEP-3', 'a public name has "_" for other characters only with a host-safe separator', () => {
    expect(joinName('my server', 'read.all', '__')).toBe('my_server__read_all');
    expect(joinName('my server', `read.all${long(80)}`, ':')).toBe(`my server:read.all${long(80)}`);
  });
});
