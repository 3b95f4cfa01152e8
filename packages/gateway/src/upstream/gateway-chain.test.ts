import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { RpcError } from '../errors.ts';
import { Chain, gatewayId, isOwnEntry, refusalIn } from './gateway-chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-chain-'));
afterAll(() => rmSync(folder, { recursive: true }));

const id = (digit: number): string => String(digit).repeat(16);
const ids = (count: number): string => Array.from({ length: count }, (_, index) => id(index)).join(',');

verifies('AGG-CFG-4', 'a chain names the gateways before it and then its own', () => {
  expect(new Chain(() => id(1)).text).toBe(id(1));
  expect(new Chain(() => id(2), id(1)).text).toBe(`${id(1)},${id(2)}`);
});

verifies('AGG-CFG-4', 'a gateway refuses a chain that contains it, and one of eight gateways', () => {
  const chain = new Chain(() => id(9));
  expect(refusalIn(chain.refuse(`${id(1)},${id(9)}`))).toEqual({ reason: 'loop', gateway: id(9) });
  expect(chain.refuse(ids(7))).toBeUndefined();
  expect(refusalIn(chain.refuse(ids(8)))).toEqual({ reason: 'depth', gateway: id(9) });
  expect(chain.refuse(undefined)).toBeUndefined();
  expect(new Chain(() => id(9), id(9)).refusal).toBeInstanceOf(RpcError);
});

verifies('AGG-CFG-4', 'a chain leaves out invalid ids and has a bounded length', () => {
  const odd = `x, ${id(1)}\u0000,\n, ${id(2)} ,${id(3).slice(1)}`;
  expect(new Chain(() => id(9), odd).text).toBe(`${id(2)},${id(9)}`);
  expect(new Chain(() => id(9), `${id(1)},`.repeat(10_000)).text.length).toBeLessThan(200);
});

verifies('AGG-CFG-4', 'refusalIn returns undefined for errors of other kinds', () => {
  for (const error of [
    new Error('x'),
    new RpcError(1, 'x'),
    new RpcError(1, 'x', { refusal: { reason: 'x' } }),
  ])
    expect(refusalIn(error)).toBeUndefined();
});

verifies('AGG-CFG-4', 'gatewayId is the same for all names of a file, and unique without a file', () => {
  const file = join(folder, 'mcp.json');
  writeFileSync(file, '{}');
  symlinkSync(file, join(folder, 'link.json'));
  expect(gatewayId(join(folder, 'link.json'))).toBe(gatewayId(file));
  expect(gatewayId(join(folder, '.', 'mcp.json'))).toBe(gatewayId(file));
  expect(gatewayId(join(folder, 'other.json'))).not.toBe(gatewayId(file));
  expect(gatewayId(undefined)).not.toBe(gatewayId(undefined));
});

verifies(
  'AGG-CFG-4',
  'a gateway refuses the gateways that its servers lead to until it forgets those servers',
  () => {
    const chain = new Chain(() => id(9));
    chain.learn('far', `${id(1)},${id(2)}, no id`);
    expect(chain.reach).toBe(`${id(9)},${id(1)},${id(2)}`);
    expect(refusalIn(chain.refuse(id(2)))).toEqual({ reason: 'loop', gateway: id(9) });
    expect(chain.refuse(id(3))).toBeUndefined();
    chain.forget('far');
    expect(chain.refuse(id(2))).toBeUndefined();
    chain.learn('vast', `${id(1)},`.repeat(1000));
    expect(chain.reach.length).toBeLessThan(1200);
  },
);

verifies('AGG-CFG-4', 'isOwnEntry recognises an entry that starts this gateway', () => {
  const file = join(folder, 'own.json');
  writeFileSync(file, '{}');
  const entry = (command: string, ...args: string[]): boolean =>
    isOwnEntry({ command, args, cwd: folder }, file);
  expect(entry('weir', '--config', file)).toBe(true);
  expect(entry('npx', '-y', 'mcp-weir@latest', '--config=own.json')).toBe(true);
  expect(entry('node', '/opt/dist/mcp-simple-aggregator.cjs', '--debug', '--config', './own.json')).toBe(
    true,
  );
  expect(entry('C:\\npm\\weir.cmd', '--config', file)).toBe(true);
  expect(entry('weir', '--config', join(folder, 'other.json'))).toBe(false);
  expect(entry('weir', '--config')).toBe(false);
  expect(entry('weir')).toBe(false);
  expect(entry('another', '--config', file)).toBe(false);
  expect(isOwnEntry({ url: 'http://localhost' }, file)).toBe(false);
  expect(isOwnEntry({ command: 'weir', args: ['--config', file] })).toBe(false);
});
