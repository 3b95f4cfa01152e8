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
      description: 'The name of the container; where another container has it, a few letters are added.',
      errorMessage: 'containerName must be text: write "containerName": "mcp-time"',
    }),
    command: key(z.array(text()), {
      description:
        'What to run in the container instead of its own command. Everybody on the machine can read it.',
      errorMessage:
        'command of a container must be an array of strings: write "command": ["serve", "--stdio"]',
    }).optional(),
    ports: key(z.record(z.string(), z.number().int().min(0).max(65_535)), {
      description:
        'Container port to host port on 127.0.0.1; a host port of 0 takes a free one. With ports the server is spoken to over HTTP, unless transport is "stdio".',
      errorMessage: 'ports must be an object of port numbers: write "ports": { "8080": 18080 }',
      examples: [{ '8080': 18080 }],
    }).optional(),
    port: key(z.number().int().min(1).max(65_535), {
      description: 'The port in the container that speaks MCP over HTTP; needed where ports has several.',
      errorMessage: 'port must be the number of a port in the container: write "port": 8080',
      examples: [8080],
    }).optional(),
    path: key(filledText(), {
      description: 'Where on that port MCP is spoken; /mcp unless set, /sse where transport is "sse".',
      errorMessage: 'path must begin with a slash: write "path": "/mcp"',
      examples: ['/mcp'],
    }).optional(),
    memory: key(filledText(), {
      description: 'The most memory that it may use, swap included; 2g unless set.',
      errorMessage: 'memory must be a size: write "memory": "512m"',
      examples: ['512m'],
    }).optional(),
    cpus: key(z.number().positive().max(1024), {
      description: 'The most processor cores that it may use; 1 unless set.',
      errorMessage: 'cpus must be a positive number: write "cpus": 0.5',
      examples: [0.5],
    }).optional(),
    network: key(filledText(), {
      description:
        'The network it is in: "bridge" unless set, from where it reaches the internet; "none" shuts it in.',
      errorMessage: 'network must be the name of a network: write "network": "none"',
      examples: ['none'],
    }).optional(),
    volumes: key(z.array(filledText()), {
      description:
        'Folders, files and volumes it sees, each as source:target or source:target:ro; a source is an absolute path or the name of a volume.',
      errorMessage: 'volumes must be an array of strings: write "volumes": ["/home/me/notes:/notes:ro"]',
      examples: [['/home/me/notes:/notes:ro']],
    }).optional(),
    allowUnsafeMounts: key(z.boolean(), {
      description:
        "true lets volumes hold the root of this machine, the engine's sockets and the like, with which it could do anything.",
      errorMessage: 'allowUnsafeMounts must be true or false, without quotes',
    }).optional(),
    readOnly: key(z.boolean(), {
      description: 'true lets it write only to /tmp and to its volumes.',
      errorMessage: 'readOnly must be true or false, without quotes',
    }).optional(),
    capabilities: key(z.array(filledText()), {
      description: 'Capabilities of the kernel that it keeps; none unless set.',
      errorMessage: 'capabilities must be an array of names: write "capabilities": ["CHOWN"]',
      examples: [['CHOWN', 'SETUID', 'SETGID']],
    }).optional(),
    pull: key(z.enum(['missing', 'always', 'never']), {
      description: 'When the image is downloaded; "missing" unless set.',
      errorMessage: 'pull must be "missing", "always" or "never"',
    }).optional(),
  })
  .meta({
    id: 'DockerConfig',
    description: 'A container, in full. It runs without privileges and within limits.',
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
    description: 'A remote server of the older HTTP+SSE kind.',
    errorMessage: 'sseConfig must be an object: write "sseConfig": { "url": "https://example.com/sse" }',
    status: 'in effect',
  });

const toolSettings = z
  .looseObject({
    enabled: key(z.boolean(), {
      description: 'false holds the tool back: it is neither listed nor callable. The name may be a pattern.',
      errorMessage: 'enabled must be true or false, without quotes',
    }).optional(),
    timeout: key(milliseconds(), {
      description:
        'Time limit of a call of this tool, in milliseconds; counts for more than that of the server.',
      errorMessage: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
    }).optional(),
    rename: key(filledText(), {
      description:
        "The name of the tool in place of the server's own, which cannot be called any more; the prefix is added as ever.",
      errorMessage: 'rename must be the new name of the tool: write "rename": "read"',
    }).optional(),
    description: key(filledText(), {
      description: "The description of the tool in place of the server's own.",
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
      description: 'How the section is found.',
      errorMessage: 'sectionType must be "heading", "block" or "range": write "sectionType": "heading"',
      status: 'accepted',
    }),
    headingText: key(filledText(), {
      description: 'The heading of the section; hashes fix its level too.',
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
      description: 'Whether sections inside this one are bound too.',
      errorMessage: 'inheritToChildren must be true or false, without quotes',
      status: 'accepted',
    }).optional(),
    documentPath: key(filledText(), {
      description: 'A pattern of the documents in which this holds.',
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

const server = z
  .looseObject({
    command: key(filledText(), {
      description: 'The program to start. It is run as it is, without a shell.',
      errorMessage: Texts.missingCommand(),
      examples: ['npx'],
    }).optional(),
    args: key(z.array(text()), {
      description: 'The arguments of the command.',
      errorMessage: 'args must be an array of strings: write "args": ["--port", "8080"]',
      examples: [['-y', '@modelcontextprotocol/server-filesystem', '/home/me']],
    }).default([]),
    env: key(textMap(), {
      description: 'Environment variables for the server, beside the short list that every server gets.',
      errorMessage:
        'env must be an object of strings: write "env": { "PORT": "8080" }, numbers in quotes too',
      examples: [{ DATABASE_URL: '${DATABASE_URL}' }],
    }).default({}),
    envFile: key(filledText(), {
      description:
        'A file of lines NAME=value, read before the start, for the process of this server only; relative to the config file. What env says counts for more.',
      errorMessage: 'envFile must be the path of a file: write "envFile": ".env"',
      examples: ['.env', '${workspaceFolder}/.env'],
    }).optional(),
    cwd: key(filledText(), {
      description: 'The folder in which the command runs; for a container, a folder in it.',
      errorMessage: 'cwd must be the path of a folder: write "cwd": "/srv/files"',
    }).optional(),
    inheritEnv: key(z.union([z.boolean(), z.array(filledText())]), {
      description:
        'true hands the whole environment on, a list of names only those; never a name that starts with WEIR_.',
      errorMessage: 'inheritEnv must be true or an array of names: write "inheritEnv": ["AWS_PROFILE"]',
      examples: [['AWS_PROFILE', 'AWS_REGION']],
    }).optional(),
    disabled: key(z.boolean(), {
      description: 'true leaves the server out; its variables are not looked up.',
      errorMessage: 'disabled must be true or false, without quotes',
    }).optional(),
    enabled: key(z.boolean(), {
      description: 'false leaves the server out; its variables are not looked up.',
      errorMessage: 'enabled must be true or false, without quotes',
    }).optional(),
    startupTimeout: key(milliseconds(), {
      description:
        'How long the server may take to start, in milliseconds; 5000 unless set (more while many servers are starting, up to 30000), 60000 for launchers that may download, 30000 for containers and remote servers.',
      errorMessage: 'startupTimeout must be a positive number of milliseconds: write "startupTimeout": 20000',
      examples: [20000],
    }).optional(),
    name: key(filledText(), {
      description: 'A label for people; no other server has it as its name or key.',
      errorMessage: 'name must be text: write "name": "Files at home"',
    }).optional(),
    type: key(text(), {
      description:
        'What other hosts write here; which kind of server it is follows from command, url or image. For a container it says how to speak to it.',
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
        'The address of a remote server: Streamable HTTP, or HTTP+SSE where the server knows only that.',
      errorMessage: 'url must be an address: write "url": "https://example.com/mcp"',
      examples: ['https://example.com/mcp'],
    }).optional(),
    headers: key(textMap(), {
      description: 'HTTP headers that a remote server gets with every request.',
      errorMessage:
        'headers must be an object of strings: write "headers": { "Authorization": "Bearer ${TOKEN}" }',
      examples: [{ Authorization: 'Bearer ${TOKEN}' }],
    }).optional(),
    sseConfig: sseConfig.optional(),
    image: key(filledText(), {
      description:
        'The image of a server that runs in a container, on stdio; args and env are those of the server in it.',
      errorMessage: 'image must be the name of an image: write "image": "mcp/time"',
      examples: ['mcp/time'],
    }).optional(),
    dockerConfig: dockerConfig.optional(),
    deploymentType: key(z.enum(['managed', 'external']), {
      description: 'managed: a container that is started here; external: a remote server.',
      errorMessage: 'deploymentType must be "managed" (a container) or "external" (a remote server)',
    }).optional(),
    timeout: key(milliseconds(), {
      description:
        'Time limit of a call, in milliseconds; none unless set. Progress lets it begin anew, up to ten times the limit in all. Waiting in a queue or for a person does not count.',
      errorMessage: 'timeout must be a positive number of milliseconds: write "timeout": 30000',
      examples: [30000],
    }).optional(),
    tools: key(z.union([z.array(filledText()), z.record(z.string(), toolSettings)]), {
      description:
        'A list of the tools to offer, as in includeTools; or settings by tool name. ["*"] offers all of them, [] none.',
      errorMessage: 'tools must be an array of names or an object of settings: write "tools": ["search"]',
      examples: [['search'], { search: { timeout: 60000, rename: 'find' }, delete_all: { enabled: false } }],
    }).optional(),
    includeTools: toolList(
      'includeTools',
      'The tools to offer, by the names that the server gives them; * is any text, ? one character. All others are neither listed nor callable.',
    ).optional(),
    excludeTools: toolList(
      'excludeTools',
      'Tools to hold back, written in the same way; counts for more than any list of tools to offer.',
    ).optional(),
    enabledTools: toolList('enabledTools', 'The same as includeTools, as some hosts spell it.').optional(),
    enabled_tools: toolList('enabled_tools', 'The same as includeTools, as Codex spells it.').optional(),
    disabledTools: toolList('disabledTools', 'The same as excludeTools, as some hosts spell it.').optional(),
    disabled_tools: toolList('disabled_tools', 'The same as excludeTools, as Codex spells it.').optional(),
    sharing: key(z.enum(['shared', 'per-session', 'per-call']), {
      description: 'Whether clients share the server or each session or call gets its own.',
      errorMessage: 'sharing must be "shared", "per-session" or "per-call"',
    }).optional(),
    era: key(z.enum(['legacy', 'modern']), {
      description:
        'The era in which the server is spoken to: "modern" is 2026-07-28, "legacy" every revision before. Unless set, a local server that speaks both gets the era of the first client that uses it. Clients of the other era are translated.',
      errorMessage: 'era must be "legacy" or "modern"',
    }).optional(),
    cwdFromRoots: key(z.boolean(), {
      description:
        "true runs the server in the first folder among the client's roots; for servers that clients do not share.",
      errorMessage: 'cwdFromRoots must be true or false, without quotes',
    }).optional(),
    lazy: key(z.boolean(), {
      description:
        'true starts the server at its first call, and answers lists from what the lock file or an earlier start has of it; false starts it at once, also with --lazy.',
      errorMessage: 'lazy must be true or false, without quotes',
    }).optional(),
    sectionBindings: sectionBindings.optional(),
  })
  .meta({
    id: 'ServerConfig',
    description: 'One server: a command, a remote address or a container.',
    errorMessage: 'Server config must be an object: write { "command": "npx", "args": ["…"] }',
    status: 'in effect',
    oneOf: [
      { required: ['command'] },
      { anyOf: [{ required: ['url'] }, { required: ['sseConfig'] }] },
      { anyOf: [{ required: ['image'] }, { required: ['dockerConfig'] }] },
    ],
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
      'Bytes that may be held for one client or server beside one message of the largest size: answers that it has not read, requests that wait for it. 16777216 unless set. Over it a server is ended and restarted, a client is disconnected.',
      16_777_216,
    ).optional(),
    listBytes: bytes(
      'listBytes',
      'Bytes that the lists of one server may have, 256 added for each entry. 33554432 unless set. Over it the server is ended.',
      33_554_432,
    ).optional(),
    totalBytes: bytes(
      'totalBytes',
      'Memory that may be taken for all clients and servers together, in bytes. 268435456 unless set. Over it the one that has been behind for longest is ended.',
      268_435_456,
    ).optional(),
  })
  .meta({
    id: 'Limits',
    description: 'Bytes that the gateway holds for its clients and servers.',
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
      description: 'The servers by their keys. A key is the first part of the names of its tools.',
      errorMessage: 'mcpServers must be an object: write "mcpServers": { "files": { "command": "npx" } }',
    }),
    mcpGlobalTimeout: key(milliseconds(), {
      description:
        'Time limit of any call, in milliseconds, where neither the tool nor the server has one; none unless set.',
      errorMessage:
        'mcpGlobalTimeout must be a positive number of milliseconds: write "mcpGlobalTimeout": 30000',
      examples: [30000],
    }).optional(),
    mcpConcurrentLimit: key(z.number().int().min(1), {
      description:
        'How many calls one server works on at a time; up to 1000 more wait, clients taking turns. No limit unless set.',
      errorMessage: 'mcpConcurrentLimit must be a whole number from 1 on: write "mcpConcurrentLimit": 25',
      examples: [25],
    }).optional(),
    mcpSessionLimit: key(z.number().int().min(-1), {
      description:
        'How many tools one client may call in its session; -1, or none set, is no limit. On HTTP in the revision without sessions, clients with the same token share one.',
      errorMessage: 'mcpSessionLimit must be a whole number, or -1 for no limit: write "mcpSessionLimit": 25',
      examples: [25],
    }).optional(),
    groups: key(z.record(z.string(), z.array(filledText())), {
      description:
        'Parts of all that is offered, each under a name: weir --group NAME and /mcp/NAME on HTTP show clients that part alone. A part is a list of server keys, for the whole server, and of key:tool, where tool is the name that the server gives it and may have * and ?.',
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
