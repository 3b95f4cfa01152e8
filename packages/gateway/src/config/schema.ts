// The source of the config's types, validator, JSON Schema and reference page.
// The build reads it; nothing reads it at run time.
import { z } from 'zod';
import { Texts } from '../errors.ts';

/** Facts about a key beyond its shape, for the generator. */
interface KeyMeta {
  description: string;
  /** The whole sentence for a value of the wrong shape: what is wrong, then what to write. */
  errorMessage: string;
  examples?: unknown[];
  /** `accepted` is checked and kept, but nothing acts on it yet. */
  status?: 'in effect' | 'accepted';
  /** For a key of a server's entry that is read from the config in force whenever it counts: a change needs no restart. */
  live?: true;
}

function key<T extends z.ZodType>(schema: T, meta: KeyMeta): T {
  return schema.meta({ status: 'in effect', ...meta });
}

/** Longer than this a timer of Node fires at once. */
const LONGEST_TIMER = 2_147_483_647;

const text = (): z.ZodString => z.string();
const filledText = (): z.ZodString => z.string().regex(/\S/);
const milliseconds = (): z.ZodNumber => z.number().positive().max(LONGEST_TIMER);
const textMap = (): z.ZodRecord<z.ZodString, z.ZodString> => z.record(z.string(), z.string());

const dockerConfig = z
  .looseObject({
    image: key(filledText(), {
      description: 'The image to run.',
      errorMessage: 'image must be the name of an image: write "image": "mcp/time"',
    }),
    containerName: key(filledText(), {
      description: 'The name of the container; if another container has it, Weir adds a few letters.',
      errorMessage: 'containerName must be text: write "containerName": "mcp-time"',
    }),
    command: key(z.array(text()), {
      description:
        'The command to run in the container instead of its own. All users of this machine can read it.',
      errorMessage:
        'command of a container must be an array of strings: write "command": ["serve", "--stdio"]',
    }).optional(),
    ports: key(z.record(z.string(), z.number().int().min(0).max(65_535)), {
      description:
        'Container ports with their host ports on 127.0.0.1; a host port of 0 takes a free one. With ports, Weir speaks HTTP to the server, unless transport is "stdio".',
      errorMessage: 'ports must be an object of port numbers: write "ports": { "8080": 18080 }',
      examples: [{ '8080': 18080 }],
    }).optional(),
    port: key(z.number().int().min(1).max(65_535), {
      description: 'The port in the container that speaks MCP over HTTP; required if ports has several.',
      errorMessage: 'port must be the number of a port in the container: write "port": 8080',
      examples: [8080],
    }).optional(),
    path: key(filledText(), {
      description: 'The path of MCP on that port; default /mcp, or /sse if transport is "sse".',
      errorMessage: 'path must begin with a slash: write "path": "/mcp"',
      examples: ['/mcp'],
    }).optional(),
    memory: key(filledText(), {
      description: 'The memory limit of the container, including swap; default 2g.',
      errorMessage: 'memory must be a size: write "memory": "512m"',
      examples: ['512m'],
    }).optional(),
    cpus: key(z.number().positive().max(1024), {
      description: 'The CPU limit of the container, in cores; default 1.',
      errorMessage: 'cpus must be a positive number: write "cpus": 0.5',
      examples: [0.5],
    }).optional(),
    network: key(filledText(), {
      description:
        'The network of the container: default "bridge", which reaches the internet; "none" isolates it.',
      errorMessage: 'network must be the name of a network: write "network": "none"',
      examples: ['none'],
    }).optional(),
    volumes: key(z.array(filledText()), {
      description:
        'Folders, files and volumes that the container sees, each as source:target or source:target:ro; a source is an absolute path or the name of a volume.',
      errorMessage: 'volumes must be an array of strings: write "volumes": ["/home/me/notes:/notes:ro"]',
      examples: [['/home/me/notes:/notes:ro']],
    }).optional(),
    allowUnsafeMounts: key(z.boolean(), {
      description:
        "true allows volumes that give the container control over this machine, such as its root folder or the engine's socket.",
      errorMessage: 'allowUnsafeMounts must be true or false, without quotes',
    }).optional(),
    readOnly: key(z.boolean(), {
      description: 'true lets the container write only to /tmp and to its volumes.',
      errorMessage: 'readOnly must be true or false, without quotes',
    }).optional(),
    capabilities: key(z.array(filledText()), {
      description: 'Linux capabilities that the container keeps; default none.',
      errorMessage: 'capabilities must be an array of names: write "capabilities": ["CHOWN"]',
      examples: [['CHOWN', 'SETUID', 'SETGID']],
    }).optional(),
    pull: key(z.enum(['missing', 'always', 'never']), {
      description: 'When Weir pulls the image; default "missing".',
      errorMessage: 'pull must be "missing", "always" or "never"',
    }).optional(),
  })
  .meta({
    id: 'DockerConfig',
    description: 'A container with all its settings. It runs without privileges and within limits.',
    errorMessage:
      'dockerConfig must be an object: write "dockerConfig": { "image": "…", "containerName": "…" }',
    status: 'in effect',
  });

const sseConfig = z
  .looseObject({
    url: key(filledText(), {
      description: 'Address of the HTTP+SSE endpoint.',
      errorMessage: 'url must be an address: write "url": "https://example.com/sse"',
    }),
  })
  .meta({
    id: 'SseConfig',
    description: 'A remote server with the older HTTP+SSE transport.',
    errorMessage: 'sseConfig must be an object: write "sseConfig": { "url": "https://example.com/sse" }',
    status: 'in effect',
  });

const toolSettings = z
  .looseObject({
    enabled: key(z.boolean(), {
      description: 'false hides the tool: clients can neither list nor call it. The name may be a pattern.',
      errorMessage: 'enabled must be true or false, without quotes',
    }).optional(),
    timeout: key(milliseconds(), {
      description: 'Time limit of a call of this tool, in milliseconds; overrides that of the server.',
      errorMessage: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
    }).optional(),
    rename: key(filledText(), {
      description:
        'The new name of the tool; clients can no longer call it by the old one. The prefix is added as usual.',
      errorMessage: 'rename must be the new name of the tool: write "rename": "read"',
    }).optional(),
    description: key(filledText(), {
      description: "The description of the tool, instead of the server's own.",
      errorMessage: 'description must be text: write "description": "Reads a file."',
    }).optional(),
  })
  .meta({
    id: 'ToolSettings',
    description: 'Settings of one tool, under the name that its server gives it.',
    errorMessage:
      'The settings of a tool must be an object: write { "enabled": false } or { "timeout": 60000 }',
    status: 'in effect',
  });

const toolList = (name: string, description: string): z.ZodArray<z.ZodString> =>
  key(z.array(filledText()), {
    description,
    errorMessage: `${name} must be an array of names: write "${name}": ["read_*"]`,
    live: true,
  });

const line = (name: string, description: string): z.ZodNumber =>
  key(z.number().int().min(1), {
    description,
    errorMessage: `${name} must be a whole number from 1 on: write "${name}": 10`,
    status: 'accepted',
  });

const sectionBinding = z
  .looseObject({
    sectionType: key(z.enum(['heading', 'block', 'range']), {
      description: 'The way in which Weir finds the section.',
      errorMessage: 'sectionType must be "heading", "block" or "range": write "sectionType": "heading"',
      status: 'accepted',
    }),
    headingText: key(filledText(), {
      description: 'The heading of the section; leading hashes also set its level.',
      errorMessage: 'headingText must be text: write "headingText": "## Tools"',
      status: 'accepted',
    }).optional(),
    blockId: key(filledText(), {
      description: 'The id of the block.',
      errorMessage: 'blockId must be text: write "blockId": "^tools"',
      status: 'accepted',
    }).optional(),
    startLine: line('startLine', 'The first line of a range, counted from 1.').optional(),
    endLine: line('endLine', 'The last line of a range.').optional(),
    serverId: key(filledText(), {
      description: 'The key of the server; under a server it is that server.',
      errorMessage: 'serverId must be the key of a server in mcpServers',
      status: 'accepted',
    }).optional(),
    inheritToChildren: key(z.boolean(), {
      description: 'true binds sections inside this one, too.',
      errorMessage: 'inheritToChildren must be true or false, without quotes',
      status: 'accepted',
    }).optional(),
    documentPath: key(filledText(), {
      description: 'A pattern for the documents to which this applies.',
      errorMessage: 'documentPath must be a pattern of paths: write "documentPath": "runbooks/**/*.md"',
      status: 'accepted',
    }).optional(),
  })
  .meta({
    id: 'SectionBindingConfig',
    description: 'Binds a section of a document to a server.',
    errorMessage:
      'A section binding must be an object: write { "sectionType": "heading", "headingText": "## Tools" }',
    status: 'accepted',
  });

const sectionBindings = key(z.array(sectionBinding), {
  description: 'Sections of documents that belong to a server.',
  errorMessage: 'sectionBindings must be an array of objects',
  status: 'accepted',
});

interface KindOfServer {
  /** Keys that tell the kind: an entry has those of one kind. Errors name the first. */
  readonly keys: readonly string[];
  /** True where Weir starts the server, with the environment that its entry sets. */
  readonly isStarted: boolean;
}

/** The kinds of servers. Each has its row in `upstream/transports`. */
export const SERVER_KINDS: Readonly<Record<string, KindOfServer>> = {
  command: { keys: ['command'], isStarted: true },
  remote: { keys: ['url', 'sseConfig'], isStarted: false },
  container: { keys: ['image', 'dockerConfig'], isStarted: true },
};

const OTHER_KEYS = Object.values(SERVER_KINDS).flatMap(({ keys: [first = ''] }) =>
  first === 'command' ? [] : [first],
);

const server = z
  .looseObject({
    command: key(filledText(), {
      description: 'The program to start. Weir runs it without a shell.',
      errorMessage: Texts.missingCommand(OTHER_KEYS),
      examples: ['npx'],
    }).optional(),
    args: key(z.array(text()), {
      description: 'The arguments of the command.',
      errorMessage: 'args must be an array of strings: write "args": ["--port", "8080"]',
      examples: [['-y', '@modelcontextprotocol/server-filesystem', '/home/me']],
    }).default([]),
    env: key(textMap(), {
      description:
        'Environment variables for the server, in addition to the short list that every server gets.',
      errorMessage:
        'env must be an object of strings: write "env": { "PORT": "8080" }, numbers in quotes too',
      examples: [{ DATABASE_URL: '${DATABASE_URL}' }],
    }).default({}),
    envFile: key(filledText(), {
      description:
        'A file with lines NAME=value, which Weir reads before the start for the process of this server only; relative to the config file. env overrides it.',
      errorMessage: 'envFile must be the path of a file: write "envFile": ".env"',
      examples: ['.env', '${workspaceFolder}/.env'],
    }).optional(),
    cwd: key(filledText(), {
      description: 'The folder in which the command runs; for a container, a folder inside it.',
      errorMessage: 'cwd must be the path of a folder: write "cwd": "/srv/files"',
    }).optional(),
    inheritEnv: key(z.union([z.boolean(), z.array(filledText())]), {
      description:
        'true passes on the whole environment, a list of names only those variables; names that start with WEIR_ are never passed on.',
      errorMessage: 'inheritEnv must be true or an array of names: write "inheritEnv": ["AWS_PROFILE"]',
      examples: [['AWS_PROFILE', 'AWS_REGION']],
    }).optional(),
    disabled: key(z.boolean(), {
      description: 'true switches the server off; Weir does not look up its variables.',
      errorMessage: 'disabled must be true or false, without quotes',
    }).optional(),
    enabled: key(z.boolean(), {
      description: 'false switches the server off; Weir does not look up its variables.',
      errorMessage: 'enabled must be true or false, without quotes',
    }).optional(),
    startupTimeout: key(milliseconds(), {
      description:
        'Time limit of a start, in milliseconds; default 5000 (more while many servers are starting, up to 30000), 60000 for launchers that may download, 30000 for containers and remote servers.',
      errorMessage: 'startupTimeout must be a positive number of milliseconds: write "startupTimeout": 20000',
      examples: [20000],
    }).optional(),
    name: key(filledText(), {
      description: 'A label for people; no other server may have it as its name or key.',
      errorMessage: 'name must be text: write "name": "Files at home"',
      live: true,
    }).optional(),
    type: key(text(), {
      description:
        'The transport, as other hosts write it. Weir tells the kind of server from command, url or image, and uses this only for a container.',
      errorMessage: 'type must be text: write "type": "stdio"',
      examples: ['stdio', 'http', 'sse'],
    }).optional(),
    transport: key(text(), {
      description: 'The same as type, under its other name.',
      errorMessage: 'transport must be text: write "transport": "stdio"',
      examples: ['stdio', 'sse'],
    }).optional(),
    url: key(filledText(), {
      description:
        'The address of a remote server: Streamable HTTP, or HTTP+SSE if the server supports only that.',
      errorMessage: 'url must be an address: write "url": "https://example.com/mcp"',
      examples: ['https://example.com/mcp'],
    }).optional(),
    headers: key(textMap(), {
      description: 'HTTP headers that Weir sends to a remote server with every request.',
      errorMessage:
        'headers must be an object of strings: write "headers": { "Authorization": "Bearer ${TOKEN}" }',
      examples: [{ Authorization: 'Bearer ${TOKEN}' }],
    }).optional(),
    sseConfig: sseConfig.optional(),
    image: key(filledText(), {
      description:
        'The image of a server that runs in a container and speaks stdio; args and env apply to the server in it.',
      errorMessage: 'image must be the name of an image: write "image": "mcp/time"',
      examples: ['mcp/time'],
    }).optional(),
    dockerConfig: dockerConfig.optional(),
    deploymentType: key(z.enum(['managed', 'external']), {
      description: 'managed: a container that Weir starts; external: a remote server.',
      errorMessage: 'deploymentType must be "managed" (a container) or "external" (a remote server)',
    }).optional(),
    timeout: key(milliseconds(), {
      description:
        'Time limit of a call, in milliseconds; default none. Progress restarts it, up to ten times the limit in total. Waiting in a queue or for a person does not count.',
      errorMessage: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
      examples: [30000],
      live: true,
    }).optional(),
    tools: key(z.union([z.array(filledText()), z.record(z.string(), toolSettings)]), {
      description:
        'A list of the tools to offer, as in includeTools, or settings by tool name. ["*"] offers all tools, [] none.',
      errorMessage: 'tools must be an array of names or an object of settings: write "tools": ["search"]',
      examples: [['search'], { search: { timeout: 60000, rename: 'find' }, delete_all: { enabled: false } }],
      live: true,
    }).optional(),
    includeTools: toolList(
      'includeTools',
      'The tools to offer, by the names that the server gives them; * matches any text, ? one character. Clients can neither list nor call the others.',
    ).optional(),
    excludeTools: toolList(
      'excludeTools',
      'Tools to hide, written in the same way; overrides every list of tools to offer.',
    ).optional(),
    enabledTools: toolList('enabledTools', 'The same as includeTools, as some hosts spell it.').optional(),
    enabled_tools: toolList('enabled_tools', 'The same as includeTools, as Codex spells it.').optional(),
    disabledTools: toolList('disabledTools', 'The same as excludeTools, as some hosts spell it.').optional(),
    disabled_tools: toolList('disabled_tools', 'The same as excludeTools, as Codex spells it.').optional(),
    sharing: key(z.enum(['shared', 'per-session', 'per-call']), {
      description:
        'shared: all clients share the server; per-session, per-call: each session or call gets its own.',
      errorMessage: 'sharing must be "shared", "per-session" or "per-call"',
    }).optional(),
    era: key(z.enum(['legacy', 'modern']), {
      description:
        'The era that Weir speaks with the server: "modern" is protocol version 2026-07-28, "legacy" every version before. By default, a local server that speaks both gets the era of the first client that uses it. Weir translates for clients of the other era.',
      errorMessage: 'era must be "legacy" or "modern"',
    }).optional(),
    cwdFromRoots: key(z.boolean(), {
      description:
        "true runs the server in the first folder among the client's roots; for servers that clients do not share.",
      errorMessage: 'cwdFromRoots must be true or false, without quotes',
    }).optional(),
    lazy: key(z.boolean(), {
      description:
        'true starts the server at its first call; until then Weir lists what the lock file or an earlier start has stored. false starts it at once, even with --lazy.',
      errorMessage: 'lazy must be true or false, without quotes',
    }).optional(),
    sectionBindings: sectionBindings.optional(),
  })
  .meta({
    id: 'ServerConfig',
    description: 'One server: a command, a remote address or a container.',
    errorMessage: 'Server config must be an object: write { "command": "npx", "args": ["…"] }',
    status: 'in effect',
    oneOf: Object.values(SERVER_KINDS).map(({ keys }) => {
      const anyOf = keys.map((required) => ({ required: [required] }));
      return anyOf.length === 1 ? anyOf[0] : { anyOf };
    }),
  });

const serverKey = z.string().min(1).meta({
  description: 'The key of a server.',
  errorMessage: 'Server key must not be empty: name the server, for example "files"',
});

/** Less than this would end peers that do nothing unusual. */
const LEAST_BYTES = 1_048_576;

const bytes = (name: string, description: string, example: number): z.ZodNumber =>
  key(z.number().int().min(LEAST_BYTES), {
    description,
    errorMessage: `${name} must be a whole number of bytes from ${LEAST_BYTES} on: write "${name}": ${example}`,
    examples: [example],
  });

const limits = z
  .looseObject({
    peerBytes: bytes(
      'peerBytes',
      'Bytes that Weir may hold for one client or server, in addition to one message of the largest size: answers that it has not read, requests that wait for it. Default 16777216. Above it, Weir restarts a server and disconnects a client.',
      16_777_216,
    ).optional(),
    listBytes: bytes(
      'listBytes',
      'Bytes of all lists of one server, plus 256 for each entry. Default 33554432. Above it, Weir stops the server.',
      33_554_432,
    ).optional(),
    totalBytes: bytes(
      'totalBytes',
      'Bytes that Weir may hold for all clients and servers together. Default 268435456. Above it, Weir ends the connection that was behind for longest.',
      268_435_456,
    ).optional(),
  })
  .meta({
    id: 'Limits',
    description: 'Limits on the bytes that Weir holds for its clients and servers.',
    errorMessage: 'limits must be an object: write "limits": { "totalBytes": 268435456 }',
    status: 'in effect',
  });

export const configSchema: z.ZodType = z
  .looseObject({
    $schema: key(text(), {
      description: 'The address of the JSON Schema, for editors.',
      errorMessage: '$schema must be text',
    }).optional(),
    mcpServers: key(z.record(serverKey, server), {
      description: 'The servers by key. The names of tools begin with the key of their server.',
      errorMessage: 'mcpServers must be an object: write "mcpServers": { "files": { "command": "npx" } }',
    }),
    mcpGlobalTimeout: key(milliseconds(), {
      description:
        'Time limit of a call, in milliseconds, if neither its tool nor its server sets one; default none.',
      errorMessage:
        'mcpGlobalTimeout must be a positive number of milliseconds: write "mcpGlobalTimeout": 30000',
      examples: [30000],
    }).optional(),
    mcpConcurrentLimit: key(z.number().int().min(1), {
      description:
        'Calls that one server runs at a time; up to 1000 more are queued, and clients take turns. By default there is no limit.',
      errorMessage: 'mcpConcurrentLimit must be a whole number from 1 on: write "mcpConcurrentLimit": 25',
      examples: [25],
    }).optional(),
    mcpSessionLimit: key(z.number().int().min(-1), {
      description:
        'Tool calls that one client may make in its session; -1, the default, is no limit. Modern clients on HTTP have no sessions: those with the same token share one limit.',
      errorMessage: 'mcpSessionLimit must be a whole number, or -1 for no limit: write "mcpSessionLimit": 25',
      examples: [25],
    }).optional(),
    groups: key(z.record(z.string(), z.array(filledText())), {
      description:
        'Groups of servers and tools by name: weir --group NAME, or /mcp/NAME on HTTP, offers clients only that group. A group is a list of server keys (whole servers) and key:tool, where tool is the name that the server gives it and may contain * and ?.',
      errorMessage:
        'groups must be an object of lists: write "groups": { "dev": ["files", "git:*", "db:query"] }',
      examples: [{ dev: ['files', 'git:*', 'db:query'] }],
    }).optional(),
    limits: limits.optional(),
    sectionBindings: sectionBindings.optional(),
  })
  .meta({
    id: 'McpConfig',
    description: 'The config file.',
    errorMessage: 'Config must be an object: write { "mcpServers": { … } }',
    status: 'in effect',
  });
