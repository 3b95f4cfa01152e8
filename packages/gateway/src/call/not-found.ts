import { quoted } from '../errors.ts';

/** The parts of a gateway that a client may ask for by name. */
export type Nameable = 'Tool' | 'Prompt' | 'Resource' | 'Task';

export function notFound(what: Nameable, name: string): string {
  return `${what} not found: ${quoted(name)}`;
}

export function invalidToolName(separator: string, name: string): string {
  return `Invalid tool name format. Expected 'serverKey${separator}toolName', got '${quoted(name)}'`;
}

export function ambiguousName(what: Nameable, name: string, publicNames: readonly string[]): string {
  return `${what} not found: ${quoted(name)} may mean ${publicNames.map(quoted).join(' or ')}; use the full name`;
}

export function ownerNotRunning(what: Nameable, name: string, serverKey: string, retryHint?: string): string {
  const next = retryHint === undefined ? '' : `; ${retryHint}`;
  return `${what} not found: ${quoted(name)} (its server '${serverKey}' is not running${next})`;
}

export function ownerStarting(what: Nameable, name: string, serverKey: string): string {
  return `${what} not found yet: ${quoted(name)} (its server '${serverKey}' is still starting; call again in a moment)`;
}

export function othersStarting(what: Nameable, name: string, serverKeys: readonly string[]): string {
  const keys = serverKeys.map((key) => `'${key}'`).join(', ');
  const verb = serverKeys.length === 1 ? 'is' : 'are';
  return `${what} not found yet: ${quoted(name)} (${keys} ${verb} still starting and may have it; call again in a moment)`;
}

/** Says which key of a server's entry hides a tool. */
export function hiddenTool(name: string, serverKey: string, key: string): string {
  return `Tool not found: ${quoted(name)} (hidden by "${key}" of server '${serverKey}' in the config)`;
}

export function renamedTool(name: string, serverKey: string, rename: string): string {
  return `Tool not found: ${quoted(name)} (renamed to "${rename}" by "tools" of server '${serverKey}' in the config)`;
}

export function taskNotFound(id: string): string {
  return `Task not found: ${quoted(id)}. Use the id that the gateway returned for the task, in the form 'serverKey~id'.`;
}
