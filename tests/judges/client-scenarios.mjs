// The actions of a client in each client scenario of the conformance suite. `client` is connected; `toolCalls` are the
// scenario's wish, and `isDirect` is true where no gateway stands between the client and the scenario's server.
import { createHash } from 'node:crypto';

/** Anything goes: results of methods that the SDK does not know. */
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };

export const scenarios = {
  initialize: (client) => client.listTools(),
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool({ name: 'add_numbers', arguments: { a: 5, b: 3 } });
  },
  'elicitation-sep1034-client-defaults': async (client) => {
    await client.listTools();
    await client.callTool({ name: 'test_client_elicitation_defaults' });
  },
  'sse-retry': async (client) => {
    await client.listTools();
    await client.callTool({ name: 'test_reconnection' });
  },
  'request-metadata': (client) => client.listTools(),
  'sep-2322-client-request-state': async (client) => {
    await client.listTools();
    const names = ['test_mrtr_echo_state', 'test_mrtr_unrelated', 'test_mrtr_no_state'];
    await Promise.all(names.map((name) => client.callTool({ name })));
    // The SDK takes no result without its type for complete, though the specification does: it calls once, and complains.
    await client.callTool({ name: 'test_mrtr_no_result_type' }).catch(() => {});
  },
  'http-standard-headers': async (client) => {
    for (const { name } of (await client.listTools()).tools) await client.callTool({ name });
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
  },
  'http-custom-headers': async (client, { toolCalls }) => {
    await client.listTools();
    for (const call of toolCalls) await client.callTool(call);
  },
  // Every tool still listed can be called. The SDK overlooks headers of numbers; a gateway must not.
  'http-invalid-tool-headers': async (client, { isDirect }) => {
    for (const { name, inputSchema } of (await client.listTools()).tools) {
      const fields = inputSchema.required ?? [];
      if (isDirect && fields.some((field) => inputSchema.properties[field].type === 'number')) continue;
      await client.callTool({ name, arguments: Object.fromEntries(fields.map((field) => [field, 'a'])) });
    }
  },
  'json-schema-ref-no-deref': (client) => client.listTools(),
  'json-schema-2020-12-preservation': async (client) => {
    const { tools } = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await client.callTool({ name: 'json_schema_echo', arguments: { schema: inputSchema } });
  },
  'sep-2640-client-no-prefetch': (client) => listSkills(client),
  'sep-2640-client-verify-digest': loadSkills,
  'sep-2640-client-verify-size': loadSkills,
  'sep-2640-client-verify-frontmatter': loadSkills,
};

async function listSkills(client) {
  const { skills } = await client.request({ method: 'skills/list', params: {} }, anything);
  return skills;
}

/** Reads each skill file by file, and stops at the first that is not what was announced. */
async function loadSkills(client) {
  for (const { uri: main, frontmatter, resources } of await listSkills(client))
    for (const { uri, digest, size } of resources) {
      const { contents } = await client.readResource({ uri });
      const { text } = contents[0];
      const found = `sha256:${createHash('sha256').update(text).digest('hex')}`;
      if (found !== digest || Buffer.byteLength(text) !== size)
        throw new Error(`Not what was listed: ${uri}`);
      if (
        uri === main &&
        !Object.entries(frontmatter).every(([key, value]) => text.includes(`\n${key}: ${value}\n`))
      )
        throw new Error(`Does not introduce itself as it was listed: ${uri}`);
    }
}
