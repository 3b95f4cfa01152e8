// @ts-check
// The page docs/compatibility.md, from the findings in docs/compatibility.json.
import { CLIENTS, NOT_TRIED } from './clients.mjs';
import { COLUMNS } from './seen.mjs';

/** @typedef {import('./try-client.mjs').ClientRow} ClientRow */
/** @typedef {import('./try-server.mjs').ServerRow} ServerRow */
/** @typedef {{ clients: Record<string, ClientRow>; servers: Record<string, ServerRow> }} Findings */

const HEADINGS = {
  connects: 'connects',
  lists: 'lists all',
  calls: 'calls',
  error: 'error result',
  changed: 'list_changed',
  instructions: 'instructions',
};

/** @param {Findings} findings */
export function page({ clients, servers }) {
  const rows = Object.entries(clients);
  const models = rows.filter(([, { atOnce }]) => atOnce !== undefined);
  return `# Compatibility

Clients and servers from npm, tried with Weir. \`npm run hosts\` installs them, runs them on this machine alone and writes this
page; \`npm run hosts -- --only codex\` tries one and keeps the other rows. Version, Node and date stand beside each.

## Clients

Behind the gateway are two servers with 24 tools, and the gateway has run before, so that it has cached their lists. Hosts that need a
model get one from us on 127.0.0.1 that follows a script: it calls a tool, a tool that fails, a tool that changes the list, and a
tool that asks the user. What the host sends to this model is what the host saw. Libraries are used as their documentation says.

- **lists all**: all 24 tools are there. **calls**: the result arrives. **error result**: the text of a result with \`isError\` arrives.
- **list_changed**: a tool that appears during the session is listed in the same session.
- **instructions**: the server's instructions reach the model or the program.
- "–": the client has no such feature, or shows it nowhere.
- **Node** ran the client, or stood in its path where it is a program of its own. The gateway ran on the Node of its servers below.
- Claude Code and Qwen Code can hide tools behind a search; here that is switched off, so that all tools stand in each request.

${table(
  ['client', 'version', 'transport', ...COLUMNS.map((column) => HEADINGS[column]), 'Node', 'date'],
  rows.flatMap(([, row]) => clientLines(row)),
)}

${reasons(rows)}

### Names

The name that a host gives to the tool \`echo\` of the server \`kit\`, joined by \`__\` and by \`:\`, and whether a call under the second name arrives.

${table(
  ['client', 'version', '`__`', '`:`', 'calls with `:`'],
  rows
    .filter(([, { names }]) => names.plain !== '')
    .map(([, { name, version, names }]) => [
      name,
      version,
      code(names.plain),
      code(names.colon),
      mark(names.calls),
    ]),
)}

### Slow servers

A server behind the gateway takes four seconds to start, the gateway remembers it. Are all tools in the first request to the model?

${table(
  ['host', 'version', 'all tools at once'],
  models.map(([, { name, version, atOnce }]) => [name, version, mark(atOnce)]),
)}

### Questions

The client's reaction to a server's question to the user (elicitation); hosts run without a user here.

${table(
  ['client', 'version', ''],
  rows.filter(([, { question }]) => question !== '').map(([, row]) => [row.name, row.version, row.question]),
)}

### Not tried

${table(
  ['client', 'package', 'version', 'why'],
  NOT_TRIED.map(({ name, package: own, version, why }) => [name, own, version, why]),
)}

## Servers

Each server is asked directly and through the gateway (\`--no-prefix\`): all definitions, and some harmless calls. **equal**: every
definition as JSON with its order of keys, and every result to the byte. Servers of services on the internet have no key here and are
asked for what they refuse by themselves, so that for them equal errors are shown, not results. The gateway's own resource with instructions that are too long for the handshake is left
out. What no two runs of the server itself have in common (a time, a random id) is masked and named.

${table(
  ['server', 'version', 'tools', 'resources', 'templates', 'prompts', 'calls', 'equal', 'Node', 'date'],
  Object.values(servers).map(serverLine),
)}
`;
}

/**
 * @param {ClientRow} row
 * @returns {string[][]}
 */
function clientLines({ name, version, node, date, verdicts, failures }) {
  const transports = Object.keys({ ...verdicts, ...failures });
  return transports.map((key) => {
    const transport = /** @type {import('./scene.mjs').Transport} */ (key);
    const verdict = verdicts[transport];
    const marks = COLUMNS.map((column) => (verdict === undefined ? 'not tried' : markOf(verdict[column])));
    return [name, version, transport === 'http' ? 'HTTP' : transport, ...marks, node, date];
  });
}

/** @param {[string, ClientRow][]} rows */
function reasons(rows) {
  const lines = rows.flatMap(([key, { name, failures }]) => [
    ...Object.entries(failures).map(([transport, why]) => `- ${name}, ${transport}: ${oneLine(why)}`),
    ...Object.entries(CLIENTS[key]?.unable ?? {}).map(([column, why]) => `- ${name}, ${column}: ${why}.`),
  ]);
  return lines.join('\n');
}

/**
 * @param {ServerRow} row
 * @returns {string[]}
 */
function serverLine({ name, version, lists, calls, differing, masked, failure, node, date }) {
  const { tools, resources, templates, prompts } = lists;
  const counts = [tools, resources, templates, prompts, calls].map(String);
  const verdict =
    failure === undefined
      ? differing.length === 0
        ? 'yes'
        : `**no**: ${differing.join(', ')}`
      : `not tried: ${oneLine(failure)}`;
  return [
    name,
    version,
    ...counts,
    masked.length === 0 ? verdict : `${verdict} (masked: ${masked.join(', ')})`,
    node,
    date,
  ];
}

/**
 * @param {string[]} headings
 * @param {string[][]} lines
 */
function table(headings, lines) {
  const row = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [row(headings), row(headings.map(() => '---')), ...lines.map(row)].join('\n');
}

/** @param {import('./seen.mjs').Mark} verdict */
function markOf(verdict) {
  return { yes: 'yes', no: '**no**', cannot: '–' }[verdict];
}

/** @param {boolean | undefined} is */
function mark(is) {
  return is === true ? 'yes' : '**no**';
}

/** @param {string} text */
function code(text) {
  return text === '' ? '–' : `\`${text}\``;
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 300);
}
