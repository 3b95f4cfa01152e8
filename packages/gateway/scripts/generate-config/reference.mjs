// @ts-check
import { refName, resolve } from './read-schema.mjs';

/** @import { Kinds, Node, Schema } from './read-schema.mjs' */

const NOTE = '<!-- Generated from the config schema: change the schema, not this page. -->\n';

/** @param {Kinds} kinds */
const introduction = (kinds) => `# The config file

The file is the one that MCP hosts already use: an object with \`mcpServers\`. Nothing beyond
\`command\`, \`args\` and \`env\` is ever required. A \`.json\` file is strict JSON; a \`.jsonc\` file may have
comments and trailing commas, and so may the \`.json\` files of hosts that allow them.

\`\`\`json
{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${HOME}/notes"]
    },
    "postgres": {
      "command": "node",
      "args": ["postgres-server.js"],
      "env": { "DATABASE_URL": "\${DATABASE_URL}" }
    }
  }
}
\`\`\`

- A server has exactly one of ${Object.values(kinds).map(describeKind).join(', ')}.
- Weir ignores a key that is not listed here, and names it in a warning.
- A key that is written twice is an error.
- Weir checks and keeps keys marked *later*, but does not act on them yet; a warning says so.
- A change of a key marked *live* takes effect without a restart of its server.

## Files of other hosts

Weir reads the file of another host as it is. Errors use the keys of that file.

| host | what Weir understands |
| --- | --- |
| VS Code | \`servers\` in \`mcp.json\`, \`mcp.servers\` in its settings, \`envFile\`, \`\${workspaceFolder}\`, \`\${userHome}\`; \`\${input:…}\` is an error that says where to put the value |
| Gemini CLI, Windsurf | \`httpUrl\`, \`serverUrl\`: the same as \`url\` |
| Zed, opencode | \`context_servers\`, \`mcp\`; a command with its arguments in one value, \`environment\` |
| Cline, Copilot | \`"type": "streamableHttp"\`, \`"local"\`, \`"remote"\` |

Where a file has \`mcpServers\`, only these count.

## Variables

Every text value may refer to environment variables; keys may not. If variables are missing, the error names all of
them, and Weir starts nothing. Weir takes the value of a variable as it is, even if it looks like a reference.

| written | becomes |
| --- | --- |
| \`$NAME\` | the variable; capitals, digits and \`_\` only, any other \`$\` stays a dollar sign |
| \`\${NAME}\`, \`\${env:NAME}\` | the variable |
| \`\${NAME:-text}\` | the variable, or the text where it is not set or empty |
| \`\${userHome}\` | the home folder |
| \`\${workspaceFolder}\` | the folder of the config file, or the one around it where that is a host's own, such as \`.vscode\`; an error in files of the user, which belong to no workspace |

Servers that are switched off (\`"disabled": true\` or \`"enabled": false\`) may refer to variables that are not set.

## Which tools are offered

\`\`\`json
{
  "mcpServers": {
    "memory": { "command": "memory-server", "includeTools": ["read_*", "search"], "excludeTools": ["read_secret"] },
    "files": { "command": "files-server", "tools": { "delete_all": { "enabled": false } } }
  }
}
\`\`\`

Clients can neither list nor call a tool that a filter hides, under any name; a call of it gets an error that names the
filter. Filters use the names that the server gives its tools; \`*\` is any text and \`?\` one character. A tool is offered
when every list of tools to offer has it (\`["*"]\` has all, \`[]\` none) and no list hides it. A pattern that matches no
tool of the server is a warning. Keys by which hosts let tools run without asking (\`alwaysAllow\`, \`autoApprove\`, \`trust\`) are not filters.

A tool may get another name and another description, under the name that its server gives it:

\`\`\`json
{
  "mcpServers": {
    "files": {
      "command": "files-server",
      "tools": { "read_text_file": { "rename": "read", "description": "Reads a text file of the project." } }
    }
  }
}
\`\`\`

Clients see \`files__read\`; \`files__read_text_file\` is an unknown tool for them. Filters, time limits, groups and the lock file
use the server's own name. If the server lists a tool \`read\` itself, Weir leaves that one out with a warning, because the config
has given its name to another tool.

Which clients see which servers and tools: [groups](groups.md).

## What a server's process gets

A short list of variables that programs need (\`HOME\`, \`PATH\`, the language, proxies and certificates), then the
server's own \`env\`. \`inheritEnv\` widens that list. Weir never passes on variables that start with \`WEIR_\`;
it sets \`WEIR_OWNER\`, a mark by which it finds all processes that a server has started when the server ends.
\`WEIR_CHAIN\` names the gateways in front of the server (as does the \`weir-chain\` header of requests to servers on HTTP):
Weir skips an entry that leads back to one of them, or to a ninth gateway, with a warning.

## Servers in containers

\`\`\`json
{
  "mcpServers": {
    "time": { "image": "mcp/time", "args": ["--local-timezone", "Europe/Berlin"] },
    "search": {
      "dockerConfig": {
        "image": "example/search:2",
        "containerName": "mcp-search",
        "ports": { "8080": 0 },
        "memory": "512m",
        "volumes": ["/home/me/notes:/notes:ro"]
      },
      "env": { "API_KEY": "\${API_KEY}" }
    }
  }
}
\`\`\`

\`image\` is the short form: \`args\` are the arguments in the container, and Weir speaks to its stdin and stdout. \`dockerConfig\` is
the long one; with \`ports\` or \`port\` Weir speaks to the server over HTTP, at a port of 127.0.0.1 alone.

| unless \`dockerConfig\` says otherwise | |
| --- | --- |
| privileges | no capabilities, no way to new ones (\`--cap-drop ALL\`, \`no-new-privileges\`), never \`--privileged\`; the image's own user |
| limits | 2 GiB of memory and no swap, 1 processor core, 512 processes and threads |
| files | its own, which it may write; nothing of this machine |
| network | the engine's own bridge: it reaches the internet, and nothing reaches it |
| variables | its own \`env\` and what \`inheritEnv\` lists, not the short list above |
| image | downloaded when it is missing |

A container gets nothing that hands over the machine, unless \`allowUnsafeMounts\` is true. Refused by name, whether or not
they exist here: the root; the sockets and files of Docker, Docker Desktop, Podman, containerd, Colima, Lima, Rancher Desktop
and OrbStack; \`/proc\`, \`/sys\`, \`/dev\`, \`/boot\`; what in \`/etc\` decides who is root and what root runs; and every folder
that holds one of them, such as a whole home folder. For an engine on this machine, links are followed as well, and a link that cannot be read is refused. Values of variables never stand in an argument of a program; what stands in \`args\` and
\`command\` can be read by everybody on the machine, and whoever may use the engine can read a container's variables too.
`;

/** @param {Kinds[string]} kind */
function describeKind({ keys: [key, ...others] }) {
  return `\`${key}\`${others.map((other) => ` (or \`${other}\`)`).join('')}`;
}

/**
 * The reference page.
 * @param {Schema} schema
 * @param {Kinds} kinds
 */
export function renderReference(schema, kinds) {
  const sections = [...schema].map(([name, node]) => renderSection(name, node, schema));
  return [NOTE, introduction(kinds), ...sections].join('\n');
}

/**
 * @param {string} name
 * @param {Node} node
 * @param {Schema} schema
 */
function renderSection(name, { properties = {}, required = [], description }, schema) {
  const rows = Object.entries(properties).map(([key, property]) => {
    const { status, live } = resolve(property, schema);
    const notes = [
      required.includes(key) && '*required*',
      status === 'accepted' && '*later*',
      live && '*live*',
    ];
    return [
      `\`${key}\``,
      describeType(property),
      describeUse(property, schema),
      notes.filter(Boolean).join(', '),
    ];
  });
  const table = [['key', 'type', 'meaning', ''], ['---', '---', '---', '---'], ...rows];
  return `## ${name}\n\n${description}\n\n${table.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
}

/**
 * A type in words.
 * @param {Node} node
 * @returns {string}
 */
function describeType(node) {
  if (node.$ref !== undefined) return `[${refName(node)}](#${refName(node).toLowerCase()})`;
  if (node.anyOf !== undefined) return node.anyOf.map(describeType).join(', or ');
  if (node.enum !== undefined) return node.enum.map((choice) => `\`"${choice}"\``).join(' or ');
  if (node.type === 'array') return `list of ${describeType(node.items ?? {})}`;
  if (node.type === 'object') return `object of ${describeType(node.additionalProperties ?? {})}`;
  return PLAIN_TYPES[node.type ?? ''] ?? 'anything';
}

/** @type {Record<string, string>} */
const PLAIN_TYPES = { string: 'text', number: 'number', integer: 'whole number', boolean: 'true or false' };

/**
 * @param {Node} node
 * @param {Schema} schema
 */
function describeUse(node, schema) {
  const parts = [resolve(node, schema).description];
  if (node.default !== undefined) parts.push(`Default: ${code(node.default)}.`);
  if (node.examples !== undefined) parts.push(`For example ${node.examples.map(code).join(' or ')}.`);
  return parts.join(' ');
}

/** @param {unknown} value */
function code(value) {
  return `\`${JSON.stringify(value)}\``;
}
