import type { Era } from './eras.ts';

/** Names of the methods of MCP that the gateway knows; it relays others as they are. */
export const Method = {
  INITIALIZE: 'initialize',
  DISCOVER: 'server/discover',
  PING: 'ping',
  CALL_TOOL: 'tools/call',
  LIST_TOOLS: 'tools/list',
  GET_PROMPT: 'prompts/get',
  LIST_PROMPTS: 'prompts/list',
  READ_RESOURCE: 'resources/read',
  LIST_RESOURCES: 'resources/list',
  LIST_TEMPLATES: 'resources/templates/list',
  SUBSCRIBE: 'resources/subscribe',
  UNSUBSCRIBE: 'resources/unsubscribe',
  LISTEN: 'subscriptions/listen',
  COMPLETE: 'completion/complete',
  SET_LOG_LEVEL: 'logging/setLevel',
  GET_TASK: 'tasks/get',
  GET_TASK_RESULT: 'tasks/result',
  UPDATE_TASK: 'tasks/update',
  CANCEL_TASK: 'tasks/cancel',
  LIST_TASKS: 'tasks/list',
  ELICIT: 'elicitation/create',
  SAMPLE: 'sampling/createMessage',
  LIST_ROOTS: 'roots/list',
  INITIALIZED: 'notifications/initialized',
  CANCELLED: 'notifications/cancelled',
  PROGRESS: 'notifications/progress',
  LOG_MESSAGE: 'notifications/message',
  RESOURCE_UPDATED: 'notifications/resources/updated',
  LISTEN_ACKNOWLEDGED: 'notifications/subscriptions/acknowledged',
  ROOTS_CHANGED: 'notifications/roots/list_changed',
} as const;
export type Method = (typeof Method)[keyof typeof Method];

/** Properties of one method; a missing flag means no. */
interface MethodProperties {
  readonly eras: readonly Era[];
  readonly from: 'client' | 'server' | 'both';
  /** Member of `params` that names the tool, prompt, resource or task; `ref` is an object around a name or URI. */
  readonly target?: 'name' | 'uri' | 'taskId' | 'ref';
  /** The target is repeated in the header Mcp-Name (2026-07-28). */
  readonly isNamedInHeader?: true;
  /** Limits of calls apply, because the request makes a server work. Requests about tasks must not queue behind these. */
  readonly isLimited?: true;
  /** The result may be `input_required` (2026-07-28): questions, after whose answers the request is repeated. */
  readonly mayRequireInput?: true;
  /** The result carries `ttlMs` and `cacheScope` (2026-07-28). */
  readonly isCacheable?: true;
  /** Kind of definitions that the result lists, page by page. */
  readonly lists?: 'tools' | 'prompts' | 'resources' | 'templates';
  /** Capability that a client must declare before a server may send this. */
  readonly clientCapability?: 'elicitation' | 'sampling' | 'roots';
  /** Part of tasks: the protocol itself in 2025-11-25, an extension in 2026-07-28. */
  readonly isTask?: true;
}

const BOTH: readonly Era[] = ['legacy', 'modern'];
const LEGACY: readonly Era[] = ['legacy'];
const MODERN: readonly Era[] = ['modern'];

const CALL = {
  eras: BOTH,
  from: 'client',
  isNamedInHeader: true,
  isLimited: true,
  mayRequireInput: true,
} as const;
const LIST = { eras: BOTH, from: 'client', isCacheable: true } as const;
const TASK = { from: 'client', target: 'taskId', isTask: true } as const;
const QUESTION = { eras: BOTH, from: 'server' } as const;

const METHODS: Readonly<Record<Method, MethodProperties>> = {
  [Method.INITIALIZE]: { eras: LEGACY, from: 'client' },
  [Method.DISCOVER]: { eras: MODERN, from: 'client', isCacheable: true },
  [Method.PING]: { eras: LEGACY, from: 'both' },
  [Method.CALL_TOOL]: { ...CALL, target: 'name' },
  [Method.LIST_TOOLS]: { ...LIST, lists: 'tools' },
  [Method.GET_PROMPT]: { ...CALL, target: 'name' },
  [Method.LIST_PROMPTS]: { ...LIST, lists: 'prompts' },
  [Method.READ_RESOURCE]: { ...CALL, target: 'uri', isCacheable: true },
  [Method.LIST_RESOURCES]: { ...LIST, lists: 'resources' },
  [Method.LIST_TEMPLATES]: { ...LIST, lists: 'templates' },
  [Method.SUBSCRIBE]: { eras: LEGACY, from: 'client', target: 'uri' },
  [Method.UNSUBSCRIBE]: { eras: LEGACY, from: 'client', target: 'uri' },
  [Method.LISTEN]: { eras: MODERN, from: 'client' },
  [Method.COMPLETE]: { eras: BOTH, from: 'client', target: 'ref', isLimited: true },
  [Method.SET_LOG_LEVEL]: { eras: LEGACY, from: 'client' },
  [Method.GET_TASK]: { ...TASK, eras: BOTH, isNamedInHeader: true },
  [Method.GET_TASK_RESULT]: { ...TASK, eras: LEGACY },
  [Method.UPDATE_TASK]: { ...TASK, eras: MODERN, isNamedInHeader: true },
  [Method.CANCEL_TASK]: { ...TASK, eras: BOTH, isNamedInHeader: true },
  [Method.LIST_TASKS]: { eras: LEGACY, from: 'client', isTask: true },
  [Method.ELICIT]: { ...QUESTION, clientCapability: 'elicitation' },
  [Method.SAMPLE]: { ...QUESTION, clientCapability: 'sampling' },
  [Method.LIST_ROOTS]: { ...QUESTION, clientCapability: 'roots' },
  [Method.INITIALIZED]: { eras: LEGACY, from: 'client' },
  [Method.CANCELLED]: { eras: BOTH, from: 'both' },
  [Method.PROGRESS]: { eras: BOTH, from: 'both' },
  [Method.LOG_MESSAGE]: { eras: BOTH, from: 'server' },
  [Method.RESOURCE_UPDATED]: { eras: BOTH, from: 'server' },
  [Method.LISTEN_ACKNOWLEDGED]: { eras: MODERN, from: 'server' },
  [Method.ROOTS_CHANGED]: { eras: LEGACY, from: 'client' },
};

/** The same by name: a client may send any name, also `__proto__`. */
const BY_NAME: ReadonlyMap<string, MethodProperties> = new Map(Object.entries(METHODS));

/** Returns true where the limits of calls apply to a request. */
export function isLimited(method: string): boolean {
  return BY_NAME.get(method)?.isLimited === true;
}

/** Returns true where a modern server may answer a request with questions. */
export function mayRequireInput(method: string): boolean {
  return BY_NAME.get(method)?.mayRequireInput === true;
}

/** Returns true where a modern result carries cache hints. */
export function isCacheable(method: string): boolean {
  return BY_NAME.get(method)?.isCacheable === true;
}

/** Returns the member of a request's params that the header Mcp-Name repeats. */
export function namedInHeader(method: string): string | undefined {
  const properties = BY_NAME.get(method);
  return properties?.isNamedInHeader === true ? properties.target : undefined;
}

/** Returns true for a modern request that names a tool, prompt or resource, so that "not found" may be about that. */
export function hasNamedTarget(method: string): boolean {
  const { eras, target } = BY_NAME.get(method) ?? {};
  return eras?.includes('modern') === true && (target === 'name' || target === 'uri');
}

/** Returns true for what 2026-07-28 has removed. Tasks became an extension there, so servers decide about theirs. */
export function isRemoved(method: string): boolean {
  const { eras, isTask } = BY_NAME.get(method) ?? {};
  return eras === LEGACY && isTask === undefined;
}

export function isTaskMethod(method: string, era: Era): boolean {
  const { eras, isTask } = BY_NAME.get(method) ?? {};
  return isTask === true && eras?.includes(era) === true;
}

/** Returns true for a request about tasks, also one that no table of ours knows. */
export function isTaskRequest(method: string): boolean {
  return method.startsWith('tasks/');
}

export function isTaskNotification(method: string): boolean {
  return method.startsWith('notifications/tasks');
}

/** Returns the notification that a list of tools, prompts or resources has changed. */
export function listChanged(list: 'tools' | 'prompts' | 'resources'): string {
  return `notifications/${list}/list_changed`;
}

/** Returns the capability that a client must declare to be asked this; undefined for what is not a question of MCP. */
export function capabilityFor(question: string): string | undefined {
  return BY_NAME.get(question)?.clientCapability;
}

/** Capabilities of which a client needs one to be asked anything. */
export const QUESTION_CAPABILITIES: readonly string[] = ['elicitation', 'sampling', 'roots'];

/** Returns the kind of definitions that a request lists. */
export function listedBy(method: string): MethodProperties['lists'] {
  return BY_NAME.get(method)?.lists;
}
