import { isRecord } from '../wire/json/value-checks.ts';
import type { ServerKind } from './config.generated.ts';
import { checkContainer, TRANSPORTS } from './container-rules.ts';
import { type Findings, has, isList, isReadable, type UncheckedObject } from './findings.ts';
import { isGlob } from './glob.ts';
import { checkGroups } from './groups.ts';
import type { JsonPath } from './json/json-path.ts';
import { describeKinds, isStarted, isSwitchedOff, missingCommand, serverKinds } from './server-kind.ts';

/** An entry of the config, the kinds of server that it has keys of, and its place. */
interface Server {
  readonly entry: UncheckedObject;
  readonly kinds: readonly ServerKind[];
  readonly at: JsonPath;
}

/** Each server is a process or a connection: ten times as many would exhaust a machine before one is called. */
const MOST_SERVERS = 1000;

/** The rules that concern more than one key at a time. */
export function checkRules(config: unknown, found: Findings): void {
  if (!isRecord(config) || !isRecord(config.mcpServers)) return;
  const count = Object.keys(config.mcpServers).length;
  if (count > MOST_SERVERS) {
    const message = `${count} servers are more than the ${MOST_SERVERS} that one gateway serves: split them over several gateways`;
    found.errors.push({ path: ['mcpServers'], message });
  }
  const names: Names = { keys: config.mcpServers, owners: new Map() };
  for (const [key, entry] of Object.entries(config.mcpServers)) {
    if (!isRecord(entry)) continue;
    const server: Server = { entry, kinds: serverKinds(entry), at: ['mcpServers', key] };
    // The variables of an entry that is switched off are never replaced.
    checkServer(server, isSwitchedOff(entry) ? { ...found, isExpanded: false } : found);
    checkName(entry, { key, names, found });
  }
  if (isRecord(config.groups)) checkGroups(config.groups, Object.keys(config.mcpServers), found);
}

function checkServer(server: Server, found: Findings): void {
  checkKind(server, found);
  checkTransport(server, found);
  checkDeployment(server, found);
  checkAddresses(server, found);
  if (server.kinds.includes('container')) checkContainer(server.entry, server.at, found);
  checkTools(server, found);
  checkHabits(server, found);
}

function checkKind({ kinds, at }: Server, { errors }: Findings): void {
  if (kinds.length === 0) errors.push({ path: [...at, 'command'], message: missingCommand() });
  if (kinds.length > 1) {
    const message = `A server has exactly one of ${describeKinds()}: keep one and remove the others`;
    errors.push({ path: at, message });
  }
}

/** A misspelt transport would be taken for none. The rules for containers have a sentence of their own. */
function checkTransport({ entry, kinds, at }: Server, found: Findings): void {
  if (kinds.includes('container')) return;
  const { errors, warnings } = found;
  const list = has(entry, 'deploymentType') ? errors : warnings;
  for (const key of ['transport', 'type']) {
    const value = entry[key];
    if (typeof value !== 'string' || TRANSPORTS.includes(value) || !isReadable(value, found)) continue;
    const message = `${key} must be "stdio", "sse", "http" or "streamable-http"`;
    const outcome = list === errors ? '' : '; it is ignored, because "command" or "url" says the same';
    list.push({ path: [...at, key], message: message + outcome, value });
  }
}

// Only an entry that says how it is deployed is held to what its transport needs.
function checkDeployment({ entry, kinds, at }: Server, { errors }: Findings): void {
  const { deploymentType, type, transport = type } = entry;
  if (deploymentType !== 'managed' && deploymentType !== 'external') return;
  const kind = deploymentType === 'managed' ? 'container' : 'remote';
  if (!kinds.includes(kind)) {
    const needed =
      kind === 'container' ? '"dockerConfig" or "image"' : '"sseConfig": { "url": "…" } or "url"';
    errors.push({ path: at, message: `deploymentType "${deploymentType}" needs ${needed}` });
  }
  if (transport === 'stdio' && deploymentType === 'external') {
    const message =
      'transport "stdio" needs "deploymentType": "managed"; an external server has "sse" or "http"';
    errors.push({ path: [...at, has(entry, 'transport') ? 'transport' : 'type'], message, value: transport });
  }
}

function checkAddresses({ entry: { url, sseConfig }, at }: Server, found: Findings): void {
  checkAddress(url, [...at, 'url'], found);
  if (isRecord(sseConfig)) checkAddress(sseConfig.url, [...at, 'sseConfig', 'url'], found);
}

function checkAddress(value: unknown, path: JsonPath, found: Findings): void {
  if (typeof value !== 'string' || value.trim() === '' || !isReadable(value, found) || isAddress(value))
    return;
  found.errors.push({ path, message: addressMistake(value), value });
}

function addressMistake(value: string): string {
  return /^https?:/iu.test(value)
    ? 'url is not valid: check its host and port'
    : 'url must begin with http:// or https://';
}

function isAddress(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** Names that are taken: the keys of all servers, and the names seen so far with their owners. */
interface Names {
  readonly keys: UncheckedObject;
  readonly owners: Map<string, string>;
}

function checkName(
  entry: UncheckedObject,
  { key, names, found }: { key: string; names: Names; found: Findings },
): void {
  const { name } = entry;
  if (typeof name !== 'string') return;
  const isKey = name !== key && Object.hasOwn(names.keys, name);
  const owner = isKey ? name : names.owners.get(name);
  if (!names.owners.has(name)) names.owners.set(name, key);
  if (owner === undefined) return;
  const message = `name must be unique: the server "${owner}" has the same ${isKey ? 'key' : 'name'}`;
  found.errors.push({ path: ['mcpServers', key, 'name'], message, value: name });
}

/** The characters that the protocol allows in the name of a tool. */
const TOOL_NAME = /^[\w./-]{1,128}$/u;

/** A rename or a description belongs to one tool, and no two tools may get the same name. */
function checkTools({ entry: { tools }, at }: Server, found: Findings): void {
  if (!isRecord(tools)) return;
  const owners = new Map<string, string>();
  for (const [tool, settings] of Object.entries(tools)) {
    if (!isRecord(settings)) continue;
    const path = [...at, 'tools', tool];
    checkRename(settings.rename, { tool, owners, path: [...path, 'rename'], found });
    for (const key of ['rename', 'description']) {
      if (!has(settings, key) || !isGlob(tool)) continue;
      const message = `${key} needs the exact name of a tool, and "${tool}" is a pattern: write an entry for each tool`;
      found.errors.push({ path: [...path, key], message });
    }
  }
}

interface Renaming {
  readonly tool: string;
  /** The tools that have got their new names so far, by those. */
  readonly owners: Map<string, string>;
  readonly path: JsonPath;
  readonly found: Findings;
}

function checkRename(value: unknown, { tool, owners, path, found }: Renaming): void {
  if (typeof value !== 'string' || value.trim() === '' || !isReadable(value, found)) return;
  const owner = owners.get(value);
  if (owner === undefined) owners.set(value, tool);
  else {
    const message = `rename must be unique: the tool "${owner}" of this server gets the same name`;
    found.errors.push({ path, message, value });
  }
  if (TOOL_NAME.test(value)) return;
  const message = 'rename may have 1 to 128 letters, digits, "_", "-", "." and "/": write "rename": "read"';
  found.errors.push({ path, message, value });
}

// Not wrong, but hardly what was meant.
function checkHabits({ entry, kinds, at }: Server, { warnings }: Findings): void {
  if (has(entry, 'envFile') && kinds.some((kind) => !isStarted(kind))) {
    const message = 'envFile has no effect on a remote server: Weir starts no process for it';
    warnings.push({ path: [...at, 'envFile'], message });
  }
  const { timeout, inheritEnv, cwdFromRoots, sharing = 'shared' } = entry;
  if (typeof timeout === 'number' && timeout < 1000) {
    const message = 'timeout is in milliseconds, and this is less than a second: write 30000 for 30 seconds';
    warnings.push({ path: [...at, 'timeout'], message });
  }
  if (cwdFromRoots === true && sharing === 'shared') {
    const message =
      'cwdFromRoots has no effect on a server that all clients share: add "sharing": "per-session", so that each client gets its own';
    warnings.push({ path: [...at, 'cwdFromRoots'], message });
  }
  if (isList(inheritEnv) && inheritEnv.some((name) => typeof name === 'string' && /^WEIR_/i.test(name))) {
    const message =
      'Weir never passes on variables that start with WEIR_: set what the server needs in its "env"';
    warnings.push({ path: [...at, 'inheritEnv'], message });
  }
}
