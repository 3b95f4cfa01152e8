// Generated from schema.ts by scripts/generate-config.mjs: change the schema, not this file.

import { isRecord } from '../wire/json/value-checks.ts';
import { type Findings, has, isList } from './findings.ts';
import type { JsonPath } from './json/json-path.ts';

/** The config file. */
export interface McpConfig {
  /** The address of the JSON Schema, for editors. */
  $schema?: string;
  /** The servers by key. The names of tools begin with the key of their server. */
  mcpServers: Record<string, ServerConfig>;
  /** Time limit of a call, in milliseconds, if neither its tool nor its server sets one; default none. */
  mcpGlobalTimeout?: number;
  /** Calls that one server runs at a time; up to 1000 more are queued, and clients take turns. By default there is no limit. */
  mcpConcurrentLimit?: number;
  /** Tool calls that one client may make in its session; -1, the default, is no limit. Modern clients on HTTP have no sessions: those with the same token share one limit. */
  mcpSessionLimit?: number;
  /** Groups of servers and tools by name: weir --group NAME, or /mcp/NAME on HTTP, offers clients only that group. A group is a list of server keys (whole servers) and key:tool, where tool is the name that the server gives it and may contain * and ?. */
  groups?: Record<string, string[]>;
  /** Limits on the bytes that Weir holds for its clients and servers. */
  limits?: Limits;
  /** Sections of documents that belong to a server. */
  sectionBindings?: SectionBindingConfig[];
}

/** One server: a command, a remote address or a container. */
export interface ServerConfig {
  /** The program to start. Weir runs it without a shell. */
  command?: string;
  /** The arguments of the command. */
  args?: string[];
  /** Environment variables for the server, in addition to the short list that every server gets. */
  env?: Record<string, string>;
  /** A file with lines NAME=value, which Weir reads before the start for the process of this server only; relative to the config file. env overrides it. */
  envFile?: string;
  /** The folder in which the command runs; for a container, a folder inside it. */
  cwd?: string;
  /** true passes on the whole environment, a list of names only those variables; names that start with WEIR_ are never passed on. */
  inheritEnv?: boolean | string[];
  /** true switches the server off; Weir does not look up its variables. */
  disabled?: boolean;
  /** false switches the server off; Weir does not look up its variables. */
  enabled?: boolean;
  /** Time limit of a start, in milliseconds; default 5000 (more while many servers are starting, up to 30000), 60000 for launchers that may download, 30000 for containers and remote servers. */
  startupTimeout?: number;
  /** A label for people; no other server may have it as its name or key. */
  name?: string;
  /** The transport, as other hosts write it. Weir tells the kind of server from command, url or image, and uses this only for a container. */
  type?: string;
  /** The same as type, under its other name. */
  transport?: string;
  /** The address of a remote server: Streamable HTTP, or HTTP+SSE if the server supports only that. */
  url?: string;
  /** HTTP headers that Weir sends to a remote server with every request. */
  headers?: Record<string, string>;
  /** A remote server with the older HTTP+SSE transport. */
  sseConfig?: SseConfig;
  /** The image of a server that runs in a container and speaks stdio; args and env apply to the server in it. */
  image?: string;
  /** A container with all its settings. It runs without privileges and within limits. */
  dockerConfig?: DockerConfig;
  /** managed: a container that Weir starts; external: a remote server. */
  deploymentType?: 'managed' | 'external';
  /** Time limit of a call, in milliseconds; default none. Progress restarts it, up to ten times the limit in total. Waiting in a queue or for a person does not count. */
  timeout?: number;
  /** A list of the tools to offer, as in includeTools, or settings by tool name. ["*"] offers all tools, [] none. */
  tools?: string[] | Record<string, ToolSettings>;
  /** The tools to offer, by the names that the server gives them; * matches any text, ? one character. Clients can neither list nor call the others. */
  includeTools?: string[];
  /** Tools to hide, written in the same way; overrides every list of tools to offer. */
  excludeTools?: string[];
  /** The same as includeTools, as some hosts spell it. */
  enabledTools?: string[];
  /** The same as includeTools, as Codex spells it. */
  enabled_tools?: string[];
  /** The same as excludeTools, as some hosts spell it. */
  disabledTools?: string[];
  /** The same as excludeTools, as Codex spells it. */
  disabled_tools?: string[];
  /** shared: all clients share the server; per-session, per-call: each session or call gets its own. */
  sharing?: 'shared' | 'per-session' | 'per-call';
  /** The era that Weir speaks with the server: "modern" is protocol version 2026-07-28, "legacy" every version before. By default, a local server that speaks both gets the era of the first client that uses it. Weir translates for clients of the other era. */
  era?: 'legacy' | 'modern';
  /** true runs the server in the first folder among the client's roots; for servers that clients do not share. */
  cwdFromRoots?: boolean;
  /** true starts the server at its first call; until then Weir lists what the lock file or an earlier start has stored. false starts it at once, even with --lazy. */
  lazy?: boolean;
  /** Sections of documents that belong to a server. */
  sectionBindings?: SectionBindingConfig[];
}

/** Limits on the bytes that Weir holds for its clients and servers. */
interface Limits {
  /** Bytes that Weir may hold for one client or server, in addition to one message of the largest size: answers that it has not read, requests that wait for it. Default 16777216. Above it, Weir restarts a server and disconnects a client. */
  peerBytes?: number;
  /** Bytes of all lists of one server, plus 256 for each entry. Default 33554432. Above it, Weir stops the server. */
  listBytes?: number;
  /** Bytes that Weir may hold for all clients and servers together. Default 268435456. Above it, Weir ends the connection that was behind for longest. */
  totalBytes?: number;
}

/** Binds a section of a document to a server. */
interface SectionBindingConfig {
  /** The way in which Weir finds the section. */
  sectionType: 'heading' | 'block' | 'range';
  /** The heading of the section; leading hashes also set its level. */
  headingText?: string;
  /** The id of the block. */
  blockId?: string;
  /** The first line of a range, counted from 1. */
  startLine?: number;
  /** The last line of a range. */
  endLine?: number;
  /** The key of the server; under a server it is that server. */
  serverId?: string;
  /** true binds sections inside this one, too. */
  inheritToChildren?: boolean;
  /** A pattern for the documents to which this applies. */
  documentPath?: string;
}

/** A remote server with the older HTTP+SSE transport. */
interface SseConfig {
  /** Address of the HTTP+SSE endpoint. */
  url: string;
}

/** A container with all its settings. It runs without privileges and within limits. */
interface DockerConfig {
  /** The image to run. */
  image: string;
  /** The name of the container; if another container has it, Weir adds a few letters. */
  containerName: string;
  /** The command to run in the container instead of its own. All users of this machine can read it. */
  command?: string[];
  /** Container ports with their host ports on 127.0.0.1; a host port of 0 takes a free one. With ports, Weir speaks HTTP to the server, unless transport is "stdio". */
  ports?: Record<string, number>;
  /** The port in the container that speaks MCP over HTTP; required if ports has several. */
  port?: number;
  /** The path of MCP on that port; default /mcp, or /sse if transport is "sse". */
  path?: string;
  /** The memory limit of the container, including swap; default 2g. */
  memory?: string;
  /** The CPU limit of the container, in cores; default 1. */
  cpus?: number;
  /** The network of the container: default "bridge", which reaches the internet; "none" isolates it. */
  network?: string;
  /** Folders, files and volumes that the container sees, each as source:target or source:target:ro; a source is an absolute path or the name of a volume. */
  volumes?: string[];
  /** true allows volumes that give the container control over this machine, such as its root folder or the engine's socket. */
  allowUnsafeMounts?: boolean;
  /** true lets the container write only to /tmp and to its volumes. */
  readOnly?: boolean;
  /** Linux capabilities that the container keeps; default none. */
  capabilities?: string[];
  /** When Weir pulls the image; default "missing". */
  pull?: 'missing' | 'always' | 'never';
}

/** Settings of one tool, under the name that its server gives it. */
interface ToolSettings {
  /** false hides the tool: clients can neither list nor call it. The name may be a pattern. */
  enabled?: boolean;
  /** Time limit of a call of this tool, in milliseconds; overrides that of the server. */
  timeout?: number;
  /** The new name of the tool; clients can no longer call it by the old one. The prefix is added as usual. */
  rename?: string;
  /** The description of the tool, instead of the server's own. */
  description?: string;
}

/** The kinds of servers: the keys that tell each, and whether Weir starts it. */
export const SERVER_KINDS = {
  command: { keys: ['command'], isStarted: true },
  remote: { keys: ['url', 'sseConfig'], isStarted: false },
  container: { keys: ['image', 'dockerConfig'], isStarted: true },
} as const;
export type ServerKind = keyof typeof SERVER_KINDS;

/** Keys that are read from the config in force whenever they count: a change of them needs no restart of the server. */
export const LIVE_KEYS: ReadonlySet<string> = new Set([
  'name',
  'timeout',
  'tools',
  'includeTools',
  'excludeTools',
  'enabledTools',
  'enabled_tools',
  'disabledTools',
  'disabled_tools',
]);

/** With every default filled in. */
export type CompleteServerConfig = ServerConfig & Required<Pick<ServerConfig, 'args' | 'env'>>;

export function completeServerConfig(value: ServerConfig): CompleteServerConfig {
  return { ...value, args: value.args ?? [], env: value.env ?? {} };
}

const MCP_CONFIG_KEYS: readonly string[] = [
  '$schema',
  'mcpServers',
  'mcpGlobalTimeout',
  'mcpConcurrentLimit',
  'mcpSessionLimit',
  'groups',
  'limits',
  'sectionBindings',
];

/** Reports every value of a config that has the wrong shape, and every key that nobody reads. */
export function checkMcpConfig(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'Config must be an object: write { "mcpServers": { … } }',
      value,
    });
    return;
  }
  if (!has(value, 'mcpServers')) {
    found.errors.push({
      path: [...at, 'mcpServers'],
      message: 'Missing required field: mcpServers; write "mcpServers": { "files": { "command": "npx" } }',
    });
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case '$schema':
        if (typeof item !== 'string') {
          found.errors.push({ path: [...at, key], message: '$schema must be text', value: item });
        }
        break;
      case 'mcpServers':
        checkMcpConfigMcpServers(item, [...at, key], found);
        break;
      case 'mcpGlobalTimeout':
        if (typeof item !== 'number' || !Number.isFinite(item) || item <= 0 || item > 2147483647) {
          found.errors.push({
            path: [...at, key],
            message:
              'mcpGlobalTimeout must be a positive number of milliseconds: write "mcpGlobalTimeout": 30000',
            value: item,
          });
        }
        break;
      case 'mcpConcurrentLimit':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1) {
          found.errors.push({
            path: [...at, key],
            message: 'mcpConcurrentLimit must be a whole number from 1 on: write "mcpConcurrentLimit": 25',
            value: item,
          });
        }
        break;
      case 'mcpSessionLimit':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < -1) {
          found.errors.push({
            path: [...at, key],
            message:
              'mcpSessionLimit must be a whole number, or -1 for no limit: write "mcpSessionLimit": 25',
            value: item,
          });
        }
        break;
      case 'groups':
        checkMcpConfigGroups(item, [...at, key], found);
        break;
      case 'limits':
        checkLimits(item, [...at, key], found);
        break;
      case 'sectionBindings':
        checkMcpConfigSectionBindings(item, [...at, key], found);
        found.warnings.push({
          path: [...at, key],
          message: 'sectionBindings is understood, but nothing acts on it yet',
        });
        break;
      default:
        found.unknown.push({ parent: at, key, known: MCP_CONFIG_KEYS });
    }
  }
}

function checkMcpConfigMcpServers(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'mcpServers must be an object: write "mcpServers": { "files": { "command": "npx" } }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '') {
      found.errors.push({
        path: [...at, key],
        message: 'Server key must not be empty: name the server, for example "files"',
        value: key,
      });
    }
    checkServerConfig(item, [...at, key], found);
  }
}

function checkMcpConfigGroups(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'groups must be an object of lists: write "groups": { "dev": ["files", "git:*", "db:query"] }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    checkMcpConfigGroupsItem(item, [...at, key], found);
  }
}

function checkMcpConfigGroupsItem(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'groups must be an object of lists: write "groups": { "dev": ["files", "git:*", "db:query"] }',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message:
          'groups must be an object of lists: write "groups": { "dev": ["files", "git:*", "db:query"] }',
        value: item,
      });
    }
  }
}

function checkMcpConfigSectionBindings(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({ path: at, message: 'sectionBindings must be an array of objects', value });
    return;
  }
  for (const [index, item] of value.entries()) {
    checkSectionBindingConfig(item, [...at, index], found);
  }
}

const SERVER_CONFIG_KEYS: readonly string[] = [
  'command',
  'args',
  'env',
  'envFile',
  'cwd',
  'inheritEnv',
  'disabled',
  'enabled',
  'startupTimeout',
  'name',
  'type',
  'transport',
  'url',
  'headers',
  'sseConfig',
  'image',
  'dockerConfig',
  'deploymentType',
  'timeout',
  'tools',
  'includeTools',
  'excludeTools',
  'enabledTools',
  'enabled_tools',
  'disabledTools',
  'disabled_tools',
  'sharing',
  'era',
  'cwdFromRoots',
  'lazy',
  'sectionBindings',
];

function checkServerConfig(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'Server config must be an object: write { "command": "npx", "args": ["…"] }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'command':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message:
              'Missing or invalid command: write "command": "npx" for a program, or "url" or "image" in its place',
            value: item,
          });
        }
        break;
      case 'args':
        checkServerConfigArgs(item, [...at, key], found);
        break;
      case 'env':
        checkServerConfigEnv(item, [...at, key], found);
        break;
      case 'envFile':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'envFile must be the path of a file: write "envFile": ".env"',
            value: item,
          });
        }
        break;
      case 'cwd':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'cwd must be the path of a folder: write "cwd": "/srv/files"',
            value: item,
          });
        }
        break;
      case 'inheritEnv':
        checkServerConfigInheritEnv(item, [...at, key], found);
        break;
      case 'disabled':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'disabled must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'enabled':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'enabled must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'startupTimeout':
        if (typeof item !== 'number' || !Number.isFinite(item) || item <= 0 || item > 2147483647) {
          found.errors.push({
            path: [...at, key],
            message:
              'startupTimeout must be a positive number of milliseconds: write "startupTimeout": 20000',
            value: item,
          });
        }
        break;
      case 'name':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'name must be text: write "name": "Files at home"',
            value: item,
          });
        }
        break;
      case 'type':
        if (typeof item !== 'string') {
          found.errors.push({
            path: [...at, key],
            message: 'type must be text: write "type": "stdio"',
            value: item,
          });
        }
        break;
      case 'transport':
        if (typeof item !== 'string') {
          found.errors.push({
            path: [...at, key],
            message: 'transport must be text: write "transport": "stdio"',
            value: item,
          });
        }
        break;
      case 'url':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'url must be an address: write "url": "https://example.com/mcp"',
            value: item,
          });
        }
        break;
      case 'headers':
        checkServerConfigHeaders(item, [...at, key], found);
        break;
      case 'sseConfig':
        checkSseConfig(item, [...at, key], found);
        break;
      case 'image':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'image must be the name of an image: write "image": "mcp/time"',
            value: item,
          });
        }
        break;
      case 'dockerConfig':
        checkDockerConfig(item, [...at, key], found);
        break;
      case 'deploymentType':
        if (item !== 'managed' && item !== 'external') {
          found.errors.push({
            path: [...at, key],
            message: 'deploymentType must be "managed" (a container) or "external" (a remote server)',
            value: item,
          });
        }
        break;
      case 'timeout':
        if (typeof item !== 'number' || !Number.isFinite(item) || item <= 0 || item > 2147483647) {
          found.errors.push({
            path: [...at, key],
            message: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
            value: item,
          });
        }
        break;
      case 'tools':
        checkServerConfigTools(item, [...at, key], found);
        break;
      case 'includeTools':
        checkServerConfigIncludeTools(item, [...at, key], found);
        break;
      case 'excludeTools':
        checkServerConfigExcludeTools(item, [...at, key], found);
        break;
      case 'enabledTools':
        checkServerConfigEnabledTools(item, [...at, key], found);
        break;
      case 'enabled_tools':
        checkServerConfigEnabled_tools(item, [...at, key], found);
        break;
      case 'disabledTools':
        checkServerConfigDisabledTools(item, [...at, key], found);
        break;
      case 'disabled_tools':
        checkServerConfigDisabled_tools(item, [...at, key], found);
        break;
      case 'sharing':
        if (item !== 'shared' && item !== 'per-session' && item !== 'per-call') {
          found.errors.push({
            path: [...at, key],
            message: 'sharing must be "shared", "per-session" or "per-call"',
            value: item,
          });
        }
        break;
      case 'era':
        if (item !== 'legacy' && item !== 'modern') {
          found.errors.push({ path: [...at, key], message: 'era must be "legacy" or "modern"', value: item });
        }
        break;
      case 'cwdFromRoots':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'cwdFromRoots must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'lazy':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'lazy must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'sectionBindings':
        checkServerConfigSectionBindings(item, [...at, key], found);
        found.warnings.push({
          path: [...at, key],
          message: 'sectionBindings is understood, but nothing acts on it yet',
        });
        break;
      default:
        found.unknown.push({ parent: at, key, known: SERVER_CONFIG_KEYS });
    }
  }
}

function checkServerConfigArgs(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'args must be an array of strings: write "args": ["--port", "8080"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') {
      found.errors.push({
        path: [...at, index],
        message: 'args must be an array of strings: write "args": ["--port", "8080"]',
        value: item,
      });
    }
  }
}

function checkServerConfigEnv(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'env must be an object of strings: write "env": { "PORT": "8080" }, numbers in quotes too',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string') {
      found.errors.push({
        path: [...at, key],
        message: 'env must be an object of strings: write "env": { "PORT": "8080" }, numbers in quotes too',
        value: item,
      });
    }
  }
}

function checkServerConfigInheritEnv(value: unknown, at: JsonPath, found: Findings): void {
  if (typeof value === 'boolean') return;
  if (isList(value)) {
    checkServerConfigInheritEnvList(value, at, found);
    return;
  }
  found.errors.push({
    path: at,
    message: 'inheritEnv must be true or an array of names: write "inheritEnv": ["AWS_PROFILE"]',
    value,
  });
}

function checkServerConfigInheritEnvList(value: readonly unknown[], at: JsonPath, found: Findings): void {
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'inheritEnv must be true or an array of names: write "inheritEnv": ["AWS_PROFILE"]',
        value: item,
      });
    }
  }
}

function checkServerConfigHeaders(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message:
        'headers must be an object of strings: write "headers": { "Authorization": "Bearer ${TOKEN}" }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string') {
      found.errors.push({
        path: [...at, key],
        message:
          'headers must be an object of strings: write "headers": { "Authorization": "Bearer ${TOKEN}" }',
        value: item,
      });
    }
  }
}

function checkServerConfigTools(value: unknown, at: JsonPath, found: Findings): void {
  if (isList(value)) {
    checkServerConfigToolsList(value, at, found);
    return;
  }
  if (isRecord(value)) {
    checkServerConfigToolsMap(value, at, found);
    return;
  }
  found.errors.push({
    path: at,
    message: 'tools must be an array of names or an object of settings: write "tools": ["search"]',
    value,
  });
}

function checkServerConfigToolsList(value: readonly unknown[], at: JsonPath, found: Findings): void {
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'tools must be an array of names or an object of settings: write "tools": ["search"]',
        value: item,
      });
    }
  }
}

function checkServerConfigToolsMap(value: Record<string, unknown>, at: JsonPath, found: Findings): void {
  for (const [key, item] of Object.entries(value)) {
    checkToolSettings(item, [...at, key], found);
  }
}

function checkServerConfigIncludeTools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'includeTools must be an array of names: write "includeTools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'includeTools must be an array of names: write "includeTools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigExcludeTools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'excludeTools must be an array of names: write "excludeTools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'excludeTools must be an array of names: write "excludeTools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigEnabledTools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'enabledTools must be an array of names: write "enabledTools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'enabledTools must be an array of names: write "enabledTools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigEnabled_tools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'enabled_tools must be an array of names: write "enabled_tools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'enabled_tools must be an array of names: write "enabled_tools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigDisabledTools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'disabledTools must be an array of names: write "disabledTools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'disabledTools must be an array of names: write "disabledTools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigDisabled_tools(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'disabled_tools must be an array of names: write "disabled_tools": ["read_*"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'disabled_tools must be an array of names: write "disabled_tools": ["read_*"]',
        value: item,
      });
    }
  }
}

function checkServerConfigSectionBindings(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({ path: at, message: 'sectionBindings must be an array of objects', value });
    return;
  }
  for (const [index, item] of value.entries()) {
    checkSectionBindingConfig(item, [...at, index], found);
  }
}

const LIMITS_KEYS: readonly string[] = ['peerBytes', 'listBytes', 'totalBytes'];

function checkLimits(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'limits must be an object: write "limits": { "totalBytes": 268435456 }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'peerBytes':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1048576) {
          found.errors.push({
            path: [...at, key],
            message: 'peerBytes must be a whole number of bytes from 1048576 on: write "peerBytes": 16777216',
            value: item,
          });
        }
        break;
      case 'listBytes':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1048576) {
          found.errors.push({
            path: [...at, key],
            message: 'listBytes must be a whole number of bytes from 1048576 on: write "listBytes": 33554432',
            value: item,
          });
        }
        break;
      case 'totalBytes':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1048576) {
          found.errors.push({
            path: [...at, key],
            message:
              'totalBytes must be a whole number of bytes from 1048576 on: write "totalBytes": 268435456',
            value: item,
          });
        }
        break;
      default:
        found.unknown.push({ parent: at, key, known: LIMITS_KEYS });
    }
  }
}

const SECTION_BINDING_CONFIG_KEYS: readonly string[] = [
  'sectionType',
  'headingText',
  'blockId',
  'startLine',
  'endLine',
  'serverId',
  'inheritToChildren',
  'documentPath',
];

function checkSectionBindingConfig(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message:
        'A section binding must be an object: write { "sectionType": "heading", "headingText": "## Tools" }',
      value,
    });
    return;
  }
  if (!has(value, 'sectionType')) {
    found.errors.push({
      path: [...at, 'sectionType'],
      message: 'Missing required field: sectionType; write "sectionType": "heading"',
    });
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'sectionType':
        if (item !== 'heading' && item !== 'block' && item !== 'range') {
          found.errors.push({
            path: [...at, key],
            message: 'sectionType must be "heading", "block" or "range": write "sectionType": "heading"',
            value: item,
          });
        }
        break;
      case 'headingText':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'headingText must be text: write "headingText": "## Tools"',
            value: item,
          });
        }
        break;
      case 'blockId':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'blockId must be text: write "blockId": "^tools"',
            value: item,
          });
        }
        break;
      case 'startLine':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1) {
          found.errors.push({
            path: [...at, key],
            message: 'startLine must be a whole number from 1 on: write "startLine": 10',
            value: item,
          });
        }
        break;
      case 'endLine':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1) {
          found.errors.push({
            path: [...at, key],
            message: 'endLine must be a whole number from 1 on: write "endLine": 10',
            value: item,
          });
        }
        break;
      case 'serverId':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'serverId must be the key of a server in mcpServers',
            value: item,
          });
        }
        break;
      case 'inheritToChildren':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'inheritToChildren must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'documentPath':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'documentPath must be a pattern of paths: write "documentPath": "runbooks/**/*.md"',
            value: item,
          });
        }
        break;
      default:
        found.unknown.push({ parent: at, key, known: SECTION_BINDING_CONFIG_KEYS });
    }
  }
}

const SSE_CONFIG_KEYS: readonly string[] = ['url'];

function checkSseConfig(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'sseConfig must be an object: write "sseConfig": { "url": "https://example.com/sse" }',
      value,
    });
    return;
  }
  if (!has(value, 'url')) {
    found.errors.push({
      path: [...at, 'url'],
      message: 'Missing required field: url; write "url": "https://example.com/sse"',
    });
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'url':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'url must be an address: write "url": "https://example.com/sse"',
            value: item,
          });
        }
        break;
      default:
        found.unknown.push({ parent: at, key, known: SSE_CONFIG_KEYS });
    }
  }
}

const DOCKER_CONFIG_KEYS: readonly string[] = [
  'image',
  'containerName',
  'command',
  'ports',
  'port',
  'path',
  'memory',
  'cpus',
  'network',
  'volumes',
  'allowUnsafeMounts',
  'readOnly',
  'capabilities',
  'pull',
];

function checkDockerConfig(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'dockerConfig must be an object: write "dockerConfig": { "image": "…", "containerName": "…" }',
      value,
    });
    return;
  }
  if (!has(value, 'image')) {
    found.errors.push({
      path: [...at, 'image'],
      message: 'Missing required field: image; write "image": "mcp/time"',
    });
  }
  if (!has(value, 'containerName')) {
    found.errors.push({
      path: [...at, 'containerName'],
      message: 'Missing required field: containerName; write "containerName": "mcp-time"',
    });
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'image':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'image must be the name of an image: write "image": "mcp/time"',
            value: item,
          });
        }
        break;
      case 'containerName':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'containerName must be text: write "containerName": "mcp-time"',
            value: item,
          });
        }
        break;
      case 'command':
        checkDockerConfigCommand(item, [...at, key], found);
        break;
      case 'ports':
        checkDockerConfigPorts(item, [...at, key], found);
        break;
      case 'port':
        if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 1 || item > 65535) {
          found.errors.push({
            path: [...at, key],
            message: 'port must be the number of a port in the container: write "port": 8080',
            value: item,
          });
        }
        break;
      case 'path':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'path must begin with a slash: write "path": "/mcp"',
            value: item,
          });
        }
        break;
      case 'memory':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'memory must be a size: write "memory": "512m"',
            value: item,
          });
        }
        break;
      case 'cpus':
        if (typeof item !== 'number' || !Number.isFinite(item) || item <= 0 || item > 1024) {
          found.errors.push({
            path: [...at, key],
            message: 'cpus must be a positive number: write "cpus": 0.5',
            value: item,
          });
        }
        break;
      case 'network':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'network must be the name of a network: write "network": "none"',
            value: item,
          });
        }
        break;
      case 'volumes':
        checkDockerConfigVolumes(item, [...at, key], found);
        break;
      case 'allowUnsafeMounts':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'allowUnsafeMounts must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'readOnly':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'readOnly must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'capabilities':
        checkDockerConfigCapabilities(item, [...at, key], found);
        break;
      case 'pull':
        if (item !== 'missing' && item !== 'always' && item !== 'never') {
          found.errors.push({
            path: [...at, key],
            message: 'pull must be "missing", "always" or "never"',
            value: item,
          });
        }
        break;
      default:
        found.unknown.push({ parent: at, key, known: DOCKER_CONFIG_KEYS });
    }
  }
}

function checkDockerConfigCommand(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'command of a container must be an array of strings: write "command": ["serve", "--stdio"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') {
      found.errors.push({
        path: [...at, index],
        message: 'command of a container must be an array of strings: write "command": ["serve", "--stdio"]',
        value: item,
      });
    }
  }
}

function checkDockerConfigPorts(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'ports must be an object of port numbers: write "ports": { "8080": 18080 }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'number' || !Number.isSafeInteger(item) || item < 0 || item > 65535) {
      found.errors.push({
        path: [...at, key],
        message: 'ports must be an object of port numbers: write "ports": { "8080": 18080 }',
        value: item,
      });
    }
  }
}

function checkDockerConfigVolumes(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'volumes must be an array of strings: write "volumes": ["/home/me/notes:/notes:ro"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'volumes must be an array of strings: write "volumes": ["/home/me/notes:/notes:ro"]',
        value: item,
      });
    }
  }
}

function checkDockerConfigCapabilities(value: unknown, at: JsonPath, found: Findings): void {
  if (!isList(value)) {
    found.errors.push({
      path: at,
      message: 'capabilities must be an array of names: write "capabilities": ["CHOWN"]',
      value,
    });
    return;
  }
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string' || !/\S/.test(item)) {
      found.errors.push({
        path: [...at, index],
        message: 'capabilities must be an array of names: write "capabilities": ["CHOWN"]',
        value: item,
      });
    }
  }
}

const TOOL_SETTINGS_KEYS: readonly string[] = ['enabled', 'timeout', 'rename', 'description'];

function checkToolSettings(value: unknown, at: JsonPath, found: Findings): void {
  if (!isRecord(value)) {
    found.errors.push({
      path: at,
      message: 'The settings of a tool must be an object: write { "enabled": false } or { "timeout": 60000 }',
      value,
    });
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    switch (key) {
      case 'enabled':
        if (typeof item !== 'boolean') {
          found.errors.push({
            path: [...at, key],
            message: 'enabled must be true or false, without quotes',
            value: item,
          });
        }
        break;
      case 'timeout':
        if (typeof item !== 'number' || !Number.isFinite(item) || item <= 0 || item > 2147483647) {
          found.errors.push({
            path: [...at, key],
            message: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
            value: item,
          });
        }
        break;
      case 'rename':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'rename must be the new name of the tool: write "rename": "read"',
            value: item,
          });
        }
        break;
      case 'description':
        if (typeof item !== 'string' || !/\S/.test(item)) {
          found.errors.push({
            path: [...at, key],
            message: 'description must be text: write "description": "Reads a file."',
            value: item,
          });
        }
        break;
      default:
        found.unknown.push({ parent: at, key, known: TOOL_SETTINGS_KEYS });
    }
  }
}
