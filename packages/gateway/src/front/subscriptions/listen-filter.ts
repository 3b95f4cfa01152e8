import { tasksRefusal } from '../../call/tasks/tasks.ts';
import { RpcError, RpcErrorCode } from '../../errors.ts';
import { hasMoreThan, objectValue } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import { MOST_URIS, tooManyFollowed } from './followed-resource.ts';

/** Filter of a `subscriptions/listen` request. */
export interface ListenFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
  /** Of the tasks extension. */
  taskIds?: string[];
}

/** Returns an error where the filter is not valid JSON, names too much, or needs tasks that the client did not declare. */
export function readFilter(message: Message): ListenFilter | RpcError {
  try {
    if (namesTooMany(message)) return tooManyFollowed();
    const filter = parseFilter(message);
    return (filter.taskIds && tasksRefusal(message)) ?? filter;
  } catch {
    return badFilter();
  }
}

/** Counts what a filter names before it is parsed, and no further than the limit. */
function namesTooMany({ params }: Message): boolean {
  const notifications = params && objectValue(params, 'notifications');
  return (
    notifications !== undefined &&
    ['resourceSubscriptions', 'taskIds'].some((key) => hasMoreThan(MOST_URIS, notifications, key))
  );
}

function parseFilter({ bytes, params }: Message): ListenFilter {
  const text = params === undefined ? '{}' : bytes.toString('utf8', params.at, params.end);
  const { notifications } = JSON.parse(text) as { notifications?: ListenFilter | null };
  const wanted = notifications ?? {};
  const uris = stringsOf(wanted.resourceSubscriptions);
  const taskIds = stringsOf(wanted.taskIds);
  return {
    ...(wanted.toolsListChanged === true && { toolsListChanged: true }),
    ...(wanted.promptsListChanged === true && { promptsListChanged: true }),
    ...(wanted.resourcesListChanged === true && { resourcesListChanged: true }),
    ...(uris && { resourceSubscriptions: uris }),
    ...(taskIds && { taskIds }),
  };
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

function badFilter(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    'subscriptions/listen needs "notifications" that are valid JSON',
  );
}
