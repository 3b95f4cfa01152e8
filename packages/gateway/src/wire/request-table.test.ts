import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { RequestTable } from './request-table.ts';

interface Asked {
  readonly id: string;
  readonly n: number;
}

describe.each([10, 1000])('a table of %i requests', (count) => {
  test('a request table finds the requests in flight that have an id', () => {
    const requests = new RequestTable<Asked>();
    const asked = Array.from({ length: count }, (_, n) => ({ id: `"${n >> 1}"`, n }));
    const tickets = asked.map((request) => requests.add(request));
    expect(requests.withId('"3"').map(({ n }) => n)).toEqual([6, 7]);
    requests.take(tickets[6] as number);
    requests.take(tickets[6] as number);
    expect(requests.withId('"3"').map(({ n }) => n)).toEqual([7]);
    requests.add({ id: '"3"', n: -1 });
    expect(requests.withId('"3"').map(({ n }) => n)).toEqual(expect.arrayContaining([7, -1]));
    for (const ticket of tickets) requests.take(ticket);
    expect(requests.withId('"3"').map(({ n }) => n)).toEqual([-1]);
    expect(requests.withId('"none"')).toEqual([]);
    expect(requests.size).toBe(1);
    expect(requests.all()).toHaveLength(1);
  });
});

verifies('AGG-CALL-3', 'a request table finds and removes 50,000 requests one by one within 5 s', () => {
  const requests = new RequestTable<Asked>();
  const count = 50_000;
  const tickets = Array.from({ length: count }, (_, n) => requests.add({ id: `${n}`, n }));
  const began = performance.now();
  let found = 0;
  for (const [n, ticket] of tickets.entries()) {
    found += requests.withId(`${n}`).length;
    requests.take(ticket);
    // Others come meanwhile.
    requests.add({ id: `${count + n}`, n });
  }
  expect(found).toBe(count);
  // One after the other would take minutes.
  expect(performance.now() - began).toBeLessThan(5_000);
});
