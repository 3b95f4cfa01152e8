import { TASKS_EXTENSION } from '../call/tasks/tasks.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import type { View } from '../gateway/view.ts';
import type { Era, Implementation } from '../protocol/eras.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { isRecord } from '../wire/json/value-checks.ts';

type Capabilities = Readonly<Record<string, unknown>>;

/** Answer of the gateway to `initialize` and `server/discover`. */
export interface GatewayDescription {
  readonly capabilities: Capabilities;
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
}

/** Declared always, because a capability cannot be added later; lists without a server are empty. */
const ALWAYS = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

/** Told too while the servers have yet to say what they have; a modern client may ask again later. */
const BEFORE_START: Readonly<Record<Era, Capabilities>> = {
  legacy: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  modern: {},
};

/** Apps are tools and resources, whose era does not matter. */
const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

/** Describes what a view offers at this moment; the gateway may still be starting, or have a single server. */
export function describeGateway(
  { registry, instructions }: View,
  gateway: FrontServices,
  era: Era,
  serverInfo: Implementation,
): GatewayDescription {
  const isOnlyOne = gateway.serverCount === 1;
  const upstreams = [...registry.upstreams.values()];
  const more = gateway.lifecycle.isReady ? capabilitiesOf(upstreams, era, isOnlyOne) : BEFORE_START[era];
  return { capabilities: { ...ALWAYS, ...more }, serverInfo, instructions };
}

/** Returns further capabilities of the servers. A single server's are declared unchanged, because unknown methods reach it too. */
function capabilitiesOf(upstreams: readonly Upstream[], era: Era, isOnlyOne: boolean): Capabilities {
  const own = upstreams.filter((upstream) => upstream.era === era);
  const extensions = {
    ...only(APPS_EXTENSION, merged(upstreams, 'extensions')),
    ...(isOnlyOne ? merged(own, 'extensions') : only(TASKS_EXTENSION, merged(own, 'extensions'))),
  };
  return withoutEmpty({
    extensions,
    tasks: era === 'legacy' ? merged(own, 'tasks') : {},
    experimental: isOnlyOne ? merged(own, 'experimental') : {},
  });
}

/** One capability of several servers; what two of them have is as the first has it. */
function merged(upstreams: readonly Upstream[], name: string): Record<string, unknown> {
  const values = upstreams.map(({ capabilities }) => capabilities[name]).filter(isRecord);
  return Object.assign({}, ...values.reverse()) as Record<string, unknown>;
}

function only(key: string, values: Record<string, unknown>): Record<string, unknown> {
  return values[key] === undefined ? {} : { [key]: values[key] };
}

function withoutEmpty(capabilities: Record<string, object>): Capabilities {
  return Object.fromEntries(
    Object.entries(capabilities).filter(([, value]) => Object.keys(value).length > 0),
  );
}
