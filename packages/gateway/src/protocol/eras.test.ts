import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { envelopeMembers, LEGACY_VERSIONS, MODERN_VERSION } from './eras.ts';

const clientInfo = { name: 'ü', version: '1' };
const read = (members: string): unknown => JSON.parse(Buffer.from(`{${members}}`, 'latin1').toString('utf8'));

test('envelopeMembers writes the client, the protocol version and the capabilities', () => {
  expect(read(envelopeMembers({ clientInfo, capabilities: '{"sampling":{}}' }))).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
  });
});

test('envelopeMembers writes the log level where one is given', () => {
  const members = envelopeMembers({ clientInfo, capabilities: '{}', logLevel: '"debug"' });
  expect(read(members)).toHaveProperty(['io.modelcontextprotocol/logLevel'], 'debug');
});

verifies('ERA-1', 'the protocol versions of both eras are listed', () => {
  expect(LEGACY_VERSIONS).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
  expect(MODERN_VERSION).toBe('2026-07-28');
});

test('LEGACY_VERSIONS begins with the newest version and does not contain the modern one', () => {
  expect(LEGACY_VERSIONS).toEqual([...LEGACY_VERSIONS].toSorted().toReversed());
  expect(LEGACY_VERSIONS).not.toContain(MODERN_VERSION);
});
