// @ts-check
// Random values, messages and damaged bytes, the same for the same seed.
import { randomFrom } from '../chaos/common.mjs';

const STRINGS = [
  '',
  'x',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '\u2028',
  '../../etc',
  'a:b',
  'h0__echo',
  'é'.repeat(300),
  '9'.repeat(400),
  'test://1',
  'modern://one',
];
const NUMBERS = [0, -1, 1, 1.5, 1e21, -0, 2 ** 53, Number.MAX_VALUE, 1e-300];
/** Raw texts that are no JSON, or not what they seem. */
const ODD = [
  '',
  '{',
  '[]',
  '[[]]',
  'null',
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","id":1,"id":2,"result":{}}',
  '{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
  '\xff\xfe',
  '\x00',
  '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  '['.repeat(5000),
  '[{}'.concat(',{}'.repeat(3000), ']'),
];
const METHODS = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'tasks/list',
  'tasks/get',
  'tasks/cancel',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
  'notifications/roots/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  'x/unknown',
];
const KEYS = [
  'name',
  'uri',
  'cursor',
  'arguments',
  '_meta',
  'progressToken',
  'requestId',
  'level',
  'ref',
  'argument',
  'notifications',
  'resourceSubscriptions',
  'taskId',
  'inputResponses',
  'requestState',
  'capabilities',
  'protocolVersion',
  'tools',
  'content',
  'contents',
  'nextCursor',
  'resultType',
  'inputRequests',
  '__proto__',
];

export class Random {
  #next;

  /** @param {number} seed */
  constructor(seed) {
    this.#next = randomFrom(seed);
    // Close seeds begin alike.
    for (let i = 0; i < 8; i++) this.#next();
  }

  /** @param {number} share */
  chance(share) {
    return this.#next() < share;
  }

  /** @param {number} count */
  below(count) {
    return Math.floor(this.#next() * count);
  }

  /**
   * @template T
   * @param {readonly [T, ...T[]] | readonly T[]} list
   * @returns {T}
   */
  pick(list) {
    return /** @type {T} */ (list[this.below(list.length)]);
  }

  /**
   * @param {number} [depth]
   * @returns {unknown}
   */
  value(depth = 0) {
    const kind = this.below(depth > 3 ? 4 : 7);
    if (kind === 0) return this.pick([null, true, false]);
    if (kind === 1) return this.pick(NUMBERS);
    if (kind < 4) return this.pick(STRINGS);
    if (kind === 4) return Array.from({ length: this.below(4) }, () => this.value(depth + 1));
    return this.object(depth + 1);
  }

  /**
   * @param {number} [depth]
   * @returns {Record<string, unknown>}
   */
  object(depth = 0) {
    return Object.fromEntries(
      Array.from({ length: this.below(5) }, () => [this.pick(KEYS), this.value(depth)]),
    );
  }

  method() {
    return this.pick(METHODS);
  }

  /** A request, notification or answer of which nothing needs to be right. */
  message() {
    const id = this.chance(0.7) ? { id: this.chance(0.8) ? this.below(300) : this.value(3) } : {};
    const kind = this.below(10);
    if (kind < 6) return { jsonrpc: '2.0', ...id, method: this.method(), params: this.object() };
    if (kind === 6) return { jsonrpc: '2.0', ...id, result: this.value() };
    if (kind === 7)
      return {
        jsonrpc: '2.0',
        ...id,
        error: { code: this.pick(NUMBERS), message: this.pick(STRINGS), data: this.value() },
      };
    return { ...id, ...this.object() };
  }

  /** A line: a message, a batch, a damaged message or an odd text. */
  line() {
    const kind = this.below(20);
    if (kind === 0) return Buffer.from(this.pick(ODD), 'latin1');
    if (kind === 1)
      return Buffer.from(JSON.stringify(Array.from({ length: this.below(50) }, () => this.message())));
    const bytes = Buffer.from(JSON.stringify(this.message()));
    return kind < 5 ? this.damage(bytes) : bytes;
  }

  /**
   * Changes some bytes, or cuts some out.
   * @param {Buffer} bytes
   */
  damage(bytes) {
    const damaged = Buffer.from(bytes);
    for (let i = this.below(4); i >= 0; i--) damaged[this.below(damaged.length)] = this.below(256);
    return this.chance(0.3) ? damaged.subarray(0, this.below(damaged.length)) : damaged;
  }
}
