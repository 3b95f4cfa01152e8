// @ts-check
// Servers that are tried, and the harmless calls that each is asked for. Servers of services on the internet are asked
// without the arguments that they need: they refuse the call by themselves.

/**
 * A request: a call of a tool, unless `method` names another.
 * @typedef {{ method?: string; name?: string; arguments?: object; uri?: string }} Call
 */

/**
 * @typedef {object} Server
 * @property {string} version
 * @property {(folder: string) => string[]} [args] Arguments of its command; what it may read is in `folder`.
 * @property {Record<string, string>} [env]
 * @property {readonly Call[]} calls
 * @property {readonly import('./masks.mjs').MaskName[]} [masks]
 */

const STDIO = () => ['--stdio'];
const NO_KEY = 'none';

/** @type {Readonly<Record<string, Server>>} */
export const SERVERS = {
  '@modelcontextprotocol/server-everything': {
    version: '2026.8.31',
    calls: [
      tool('echo', { message: 'Grüße, 世界 🌍' }),
      tool('get-sum', { a: 0.1, b: 0.2 }),
      tool('get-sum', { a: 'one' }),
      tool('get-tiny-image'),
      tool('get-structured-content', { location: 'Chicago' }),
      read('demo://resource/static/document/features.md'),
      prompt('args-prompt', { city: 'Lyon' }),
    ],
  },
  '@modelcontextprotocol/server-filesystem': {
    version: '2026.8.31',
    args: (folder) => [folder],
    calls: [
      tool('list_allowed_directories'),
      tool('read_text_file', { path: 'poem.txt' }),
      tool('read_text_file', { path: '/etc/passwd' }),
      tool('read_text_file'),
    ],
  },
  '@modelcontextprotocol/server-memory': {
    version: '2026.8.31',
    env: { MEMORY_FILE_PATH: 'memory.jsonl' },
    calls: [tool('read_graph'), tool('search_nodes', { query: 'x' }), read('memory://knowledge-graph')],
  },
  '@modelcontextprotocol/server-sequential-thinking': {
    version: '2026.8.31',
    calls: [
      tool('sequentialthinking', {
        thought: 'a',
        nextThoughtNeeded: false,
        thoughtNumber: 1,
        totalThoughts: 1,
      }),
      tool('sequentialthinking'),
    ],
  },
  '@modelcontextprotocol/server-debug': {
    version: '2.0.3',
    args: STDIO,
    calls: [tool('debug-tool', { contentType: 'mixed' }), read('ui://debug-tool/mcp-app.html')],
    masks: ['time'],
  },
  '@modelcontextprotocol/server-budget-allocator': {
    version: '2.0.3',
    args: STDIO,
    calls: [tool('get-budget-data'), read('ui://budget-allocator/mcp-app.html')],
  },
  '@modelcontextprotocol/server-shadertoy': {
    version: '2.0.3',
    args: STDIO,
    calls: [tool('render-shadertoy'), read('ui://shadertoy/mcp-app.html')],
  },
  '@modelcontextprotocol/server-sheet-music': {
    version: '2.0.3',
    args: STDIO,
    calls: [tool('play-sheet-music'), read('ui://sheet-music/mcp-app.html')],
  },
  '@modelcontextprotocol/server-transcript': {
    version: '2.0.3',
    args: STDIO,
    calls: [tool('transcribe'), read('ui://transcript/mcp-app.html')],
  },
  '@modelcontextprotocol/server-github': {
    version: '2025.4.8',
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: NO_KEY },
    calls: [tool('search_repositories'), tool('get_file_contents', { owner: 7 })],
  },
  '@modelcontextprotocol/server-gitlab': {
    version: '2025.4.25',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: NO_KEY },
    calls: [tool('create_issue'), tool('get_file_contents', { project_id: 7 })],
  },
  '@modelcontextprotocol/server-slack': {
    version: '2025.4.25',
    env: { SLACK_BOT_TOKEN: NO_KEY, SLACK_TEAM_ID: NO_KEY },
    calls: [tool('slack_post_message'), tool('no_such_tool')],
  },
  '@modelcontextprotocol/server-brave-search': {
    version: '0.6.2',
    env: { BRAVE_API_KEY: NO_KEY },
    calls: [tool('brave_web_search'), tool('no_such_tool')],
  },
  '@modelcontextprotocol/server-google-maps': {
    version: '0.6.2',
    env: { GOOGLE_MAPS_API_KEY: NO_KEY },
    calls: [tool('no_such_tool')],
  },
  '@notionhq/notion-mcp-server': {
    version: '2.5.2',
    env: { NOTION_TOKEN: NO_KEY },
    calls: [tool('no-such-tool')],
  },
  '@upstash/context7-mcp': {
    version: '4.1.1',
    calls: [tool('resolve-library-id'), tool('query-docs', { libraryId: 7 })],
  },
  '@playwright/mcp': {
    version: '0.0.83',
    args: (folder) => ['--headless', '--isolated', '--executable-path', `${folder}/no-browser`],
    calls: [tool('browser_snapshot'), tool('browser_resize'), tool('browser_tabs', { action: 'list' })],
  },
  'chrome-devtools-mcp': {
    version: '1.11.0',
    args: (folder) => ['--no-usage-statistics', '--headless', '--executable-path', `${folder}/no-browser`],
    calls: [tool('list_pages'), tool('click')],
  },
  '@cyanheads/git-mcp-server': {
    version: '2.15.3',
    calls: [
      tool('git_blame'),
      read('git://working-directory'),
      tool('git_status', { path: '/no/such/folder' }),
    ],
    masks: ['time', 'id', 'duration', 'requestId'],
  },
  '@eslint/mcp': { version: '0.3.13', calls: [tool('lint-files'), tool('lint-files', { filePaths: [] })] },
  '@antv/mcp-server-chart': {
    version: '0.9.10',
    calls: [tool('generate_area_chart'), tool('generate_bar_chart', { data: 'nonsense' })],
  },
  '@hubspot/mcp-server': {
    version: '0.4.0',
    env: { PRIVATE_APP_ACCESS_TOKEN: NO_KEY },
    calls: [tool('hubspot-list-objects'), tool('no_such_tool')],
  },
  'firecrawl-mcp': {
    version: '3.26.0',
    env: { FIRECRAWL_API_KEY: NO_KEY },
    calls: [tool('firecrawl_map'), tool('firecrawl_search')],
  },
  'tavily-mcp': {
    version: '0.2.22',
    env: { TAVILY_API_KEY: NO_KEY },
    calls: [tool('no_such_tool')],
  },
  'exa-mcp-server': {
    version: '3.4.1',
    env: { EXA_API_KEY: NO_KEY },
    calls: [tool('web_search_exa'), read('exa://tools/list'), prompt('web_search_help')],
  },
  'airtable-mcp-server': {
    version: '1.14.0',
    env: { AIRTABLE_API_KEY: 'pat.none' },
    calls: [tool('list_records'), tool('describe_table', { baseId: 7 })],
  },
  '@perplexity-ai/mcp-server': {
    version: '1.2.1',
    env: { PERPLEXITY_API_KEY: NO_KEY },
    calls: [tool('perplexity_ask'), tool('perplexity_search', { query: 7 })],
  },
  'mcp-searxng': {
    version: '2.4.0',
    env: { SEARXNG_URL: 'http://127.0.0.1:9' },
    calls: [tool('searxng_web_search'), read('help://usage-guide'), read('config://server-config')],
  },
  '@tacticlaunch/mcp-linear': {
    version: '1.4.3',
    env: { LINEAR_API_TOKEN: 'lin_api_none' },
    calls: [tool('linear_getWorkflowStates'), prompt('summarize-project-status', { projectId: 'p' })],
  },
  '@zereight/mcp-gitlab': {
    version: '2.1.64',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: NO_KEY },
    calls: [tool('merge_merge_request')],
  },
  'hostinger-api-mcp': {
    version: '1.63.2',
    env: { API_TOKEN: NO_KEY },
    calls: [tool('no_such_tool')],
  },
  'mongodb-mcp-server': {
    version: '3.0.4',
    args: () => ['--telemetry', 'disabled'],
    calls: [tool('aggregate'), read('config://config')],
  },
  'mcp-hello-world': {
    version: '1.1.2',
    calls: [
      tool('echo', { message: 'hello' }),
      tool('add', { a: 1, b: 2 }),
      tool('add', { a: 1 }),
      read('hello://world'),
      prompt('helpful-assistant'),
    ],
  },
  'mcp-server-commands': {
    version: '0.5.0',
    calls: [tool('run_command', { command: 'echo out; echo err >&2; exit 3' }), prompt('run_command')],
  },
  'mcp-mermaid': {
    version: '0.4.1',
    calls: [
      tool('generate_mermaid_diagram'),
      tool('generate_mermaid_diagram', { mermaid: 'graph TD; a-->b', outputType: 'mermaid' }),
    ],
  },
  'mcp-shrimp-task-manager': {
    version: '1.0.21',
    env: { DATA_DIR: '.', ENABLE_GUI: 'false' },
    calls: [tool('list_tasks', { status: 'all' }), tool('plan_task')],
  },
  'time-mcp': {
    version: '1.0.6',
    calls: [
      tool('days_in_month', { date: '2024-02-01' }),
      tool('get_timestamp', { time: '2024-02-01 00:00:00' }),
      tool('convert_time', {
        sourceTimezone: 'Europe/Berlin',
        targetTimezone: 'Asia/Tokyo',
        time: '2024-02-01 12:00:00',
      }),
      tool('relative_time'),
    ],
  },
};

/** Exact versions of all servers: one folder holds them. */
export const SERVER_PACKAGES = Object.fromEntries(
  Object.entries(SERVERS).map(([name, { version }]) => [name, version]),
);

/**
 * @param {string} name
 * @param {object} [args]
 * @returns {Call}
 */
function tool(name, args = {}) {
  return { name, arguments: args };
}

/**
 * @param {string} uri
 * @returns {Call}
 */
function read(uri) {
  return { method: 'resources/read', uri };
}

/**
 * @param {string} name
 * @param {object} [args]
 * @returns {Call}
 */
function prompt(name, args) {
  return { method: 'prompts/get', name, ...(args !== undefined && { arguments: args }) };
}
