import { describe, expect, test, vi } from 'vitest';
import { silentLog } from '../log.ts';
import { GatewayEvents, type GatewayEvent } from './events.ts';

const EVENT: GatewayEvent = { type: 'lists-changed', at: 1, lists: ['tools'] };

function streamOf(error = vi.fn()): { events: GatewayEvents; open: () => number; error: typeof error } {
  let sources = 0;
  const events = new GatewayEvents({ ...silentLog, error }, () => {
    sources++;
    return () => void sources--;
  });
  return { events, open: () => sources, error };
}

describe('the event stream', () => {
  test('the event stream gives every event to every listener until it unsubscribes', () => {
    const { events } = streamOf();
    const [one, other] = [vi.fn(), vi.fn()];
    events.subscribe(other);
    const unsubscribe = events.subscribe(one);
    events.publish(EVENT);
    unsubscribe();
    events.publish(EVENT);
    expect(one.mock.calls).toEqual([[EVENT]]);
    expect(other).toHaveBeenCalledTimes(2);
  });

  test('the event stream logs the error of a listener and continues with the next', () => {
    const { events, error } = streamOf();
    const next = vi.fn();
    events.subscribe(() => {
      throw new Error('mine');
    });
    events.subscribe(next);
    events.publish(EVENT);
    expect(error).toHaveBeenCalledWith('A listener for lists-changed failed: mine');
    expect(next).toHaveBeenCalledOnce();
  });

  test('the event stream opens its costly sources only while it has a listener', () => {
    const { events, open } = streamOf();
    expect(open()).toBe(0);
    const leave = [events.subscribe(vi.fn()), events.subscribe(vi.fn())];
    expect(open()).toBe(1);
    leave.forEach((unsubscribe) => unsubscribe());
    leave.forEach((unsubscribe) => unsubscribe());
    expect(open()).toBe(0);
  });
});
