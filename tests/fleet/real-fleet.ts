// The real servers from npm, made to run offline, and what each of them is asked.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../support/harness.ts';
import { fleet, type FleetServer } from './fleet.ts';
import { environment, fileTimes, randomId, time, type Mask } from './masks.ts';

/** One request to a server, under the server's own names. */
export interface Step {
  readonly method: string;
  readonly params: Json;
  /** Values that may differ from run to run, by name; all others must be equal. */
  readonly masks: readonly Mask[];
  /** The tool exists only for clients that can be asked something. */
  readonly asks: boolean;
}

/** The fleet in the order of its config. Its files stay in `folder`, and its requests to the internet go to `api`. */
export function realServers(folder: string, api: string): Record<string, FleetServer> {
  const files = join(folder, 'files');
  const servers = fleet(folder);
  return {
    ...servers,
    filesystem: fleet(files)['filesystem']!,
    playwright: more(servers['playwright']!, ['--executable-path', join(folder, 'no-browser')]),
    context7: { ...servers['context7']!, env: { CONTEXT7_API_URL: api } },
    pdf: more(servers['pdf']!, [paperIn(folder)]),
    debug: { ...servers['debug']!, env: { DEBUG_LOG_FILE: join(folder, 'debug.log') } },
    notion: { ...servers['notion']!, env: { BASE_URL: api, NOTION_TOKEN: 'none' } },
  };
}

function more(server: FleetServer, args: string[]): FleetServer {
  return { ...server, args: [...server.args, ...args] };
}

/** The file of the server 'pdf', which empties it; 'filesystem' must not see that in its listings. */
function paperIn(folder: string): string {
  return join(folder, 'papers', 'sample.pdf');
}

/** Empties the folder and fills it again, so that every run finds the same. */
export function resetFiles(folder: string): void {
  const files = join(folder, 'files');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(files, 'deep', 'deeper'), { recursive: true });
  const contents: Record<string, string | Buffer> = {
    'poem.txt': 'one\ntwo\nthree\nfour\n',
    'umlaut.txt': 'Grüße, 世界 🌍\n',
    'deep/deeper/leaf.md': '# Leaf\n',
    'dot.png': Buffer.from(PNG, 'base64'),
    'sample.pdf': PDF,
  };
  for (const [name, content] of Object.entries(contents)) {
    writeFileSync(join(files, name), content);
    utimesSync(join(files, name), 1_700_000_000, 1_700_000_000);
  }
  mkdirSync(join(folder, 'papers'));
  writeFileSync(paperIn(folder), PDF);
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The least that is a PDF: one empty page. */
const PDF = `%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

/** Requests to each server, in this order. */
export function realSteps(folder: string): Record<string, Step[]> {
  return {
    everything: everything(),
    filesystem: filesystem(join(folder, 'files')),
    memory: memory(),
    thinking: thinking(),
    playwright: playwright(folder),
    context7: context7(),
    pdf: pdf(paperIn(folder)),
    react: [call('get-time', {}, time), read('ui://get-time/mcp-app.html')],
    map: map(),
    debug: debug(),
    threejs: threejs(),
    commands: commands(folder),
    hello: hello(),
    notion: notion(),
  };
}

function everything(): Step[] {
  const document = (name: string): Step => read(`demo://resource/static/document/${name}.md`);
  const department = { name: 'department', value: 'E' };
  const member = { name: 'name', value: '' };
  return [
    call('echo', { message: 'Grüße, 世界 🌍 \u2028 "quoted" \\' }),
    call('echo', {}),
    call('echo', { message: 'x'.repeat(200_000) }),
    call('get-annotated-message', { messageType: 'error' }),
    call('get-annotated-message', { messageType: 'success', includeImage: true }),
    call('get-annotated-message', { messageType: 'debug' }),
    call('get-annotated-message', { messageType: 'nonsense' }),
    call('get-env', {}, environment),
    call('get-resource-links', { count: 4 }),
    call('get-resource-links', { count: 0 }),
    call('get-resource-reference', { resourceType: 'Text', resourceId: 2 }, time),
    call('get-resource-reference', { resourceType: 'Blob', resourceId: 3 }, time),
    call('get-resource-reference', { resourceType: 'Text', resourceId: -1 }),
    call('get-structured-content', { location: 'Chicago' }),
    call('get-structured-content', { location: 'Atlantis' }),
    call('get-sum', { a: 0.1, b: 0.2 }),
    call('get-sum', { a: 'one', b: 2 }),
    call('get-tiny-image'),
    call('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }),
    call('gzip-file-as-resource', {
      name: 'b.gz',
      data: 'data:text/plain,hello',
      outputType: 'resourceLink',
    }),
    call('gzip-file-as-resource', { name: 'c.gz', data: 'nonsense' }),
    read('demo://resource/session/b.gz'),
    // Switched on and off again: what they send in between belongs to no call.
    call('toggle-simulated-logging'),
    call('toggle-simulated-logging'),
    call('toggle-subscriber-updates'),
    call('toggle-subscriber-updates'),
    call('trigger-long-running-operation', { duration: 0.4, steps: 4 }),
    asking('get-roots-list'),
    asking('trigger-elicitation-request'),
    asking('trigger-url-elicitation', { url: 'https://example.com/', elicitationId: 'e-1' }),
    asking('trigger-url-elicitation', { url: 'https://example.com/', errorPath: true }, randomId),
    asking('trigger-sampling-request', { prompt: 'Say something', maxTokens: 7 }),
    call('simulate-research-query', { topic: 'weirs' }),
    ...['architecture', 'extension', 'features', 'how-it-works'].map(document),
    ...['instructions', 'startup', 'structure'].map(document),
    read('demo://resource/dynamic/text/7', time),
    read('demo://resource/dynamic/blob/8', time),
    read('demo://resource/dynamic/text/seven'),
    prompt('simple-prompt'),
    prompt('args-prompt', { city: 'Lyon' }),
    prompt('args-prompt', { city: 'Lyon', state: 'Rhône' }),
    prompt('args-prompt'),
    prompt('completable-prompt', { department: 'Engineering', name: 'Alice' }),
    prompt('resource-prompt', { resourceType: 'Text', resourceId: '4' }, time),
    prompt('resource-prompt', { resourceType: 'Nonsense', resourceId: '4' }),
    completion({ type: 'ref/prompt', name: 'completable-prompt' }, department),
    completion({ type: 'ref/prompt', name: 'completable-prompt' }, member, { department: 'Sales' }),
    completion(
      { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      { name: 'resourceId', value: '1' },
    ),
  ];
}

function filesystem(files: string): Step[] {
  const path = (name: string): Json => ({ path: join(files, name) });
  const edits = [{ oldText: 'two', newText: 'zwei' }];
  return [
    call('list_allowed_directories'),
    call('read_file', path('poem.txt')),
    call('read_text_file', { ...path('poem.txt'), head: 2 }),
    call('read_text_file', { ...path('poem.txt'), tail: 1 }),
    call('read_text_file', { ...path('poem.txt'), tail: 1, head: 1 }),
    call('read_text_file', path('umlaut.txt')),
    call('read_text_file', path('missing.txt')),
    call('read_text_file', { path: '/etc/hostname' }),
    call('read_text_file', {}),
    call('read_media_file', path('dot.png')),
    call('read_multiple_files', { paths: [join(files, 'poem.txt'), join(files, 'missing.txt')] }),
    call('write_file', { ...path('new.txt'), content: 'new\n' }),
    call('edit_file', { ...path('poem.txt'), edits, dryRun: true }),
    call('edit_file', { ...path('poem.txt'), edits }),
    call('edit_file', { ...path('poem.txt'), edits }),
    call('create_directory', path('made/here')),
    call('list_directory', path('.')),
    call('list_directory_with_sizes', { ...path('.'), sortBy: 'size' }),
    call('directory_tree', path('.')),
    call('directory_tree', { ...path('.'), excludePatterns: ['deep'] }),
    call('move_file', { source: join(files, 'new.txt'), destination: join(files, 'made/moved.txt') }),
    call('move_file', { source: join(files, 'new.txt'), destination: join(files, 'made/moved.txt') }),
    call('search_files', { ...path('.'), pattern: '**/*.md' }),
    call('get_file_info', path('dot.png'), fileTimes),
    call('get_file_info', path('missing.txt')),
  ];
}

function memory(): Step[] {
  const ada = { name: 'Ada', entityType: 'person', observations: ['wrote notes'] };
  const engine = { name: 'Engine', entityType: 'machine', observations: ['has cogs', 'computes'] };
  const relation = { from: 'Ada', to: 'Engine', relationType: 'describes' };
  return [
    call('read_graph'),
    call('create_entities', { entities: [ada, engine] }),
    call('create_entities', { entities: 'nonsense' }),
    call('create_relations', { relations: [relation] }),
    call('add_observations', { observations: [{ entityName: 'Ada', contents: ['knew Babbage'] }] }),
    call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }),
    call('search_nodes', { query: 'cogs' }),
    call('open_nodes', { names: ['Ada'] }),
    read('memory://knowledge-graph'),
    call('delete_observations', { deletions: [{ entityName: 'Engine', observations: ['computes'] }] }),
    call('delete_relations', { relations: [relation] }),
    call('delete_entities', { entityNames: ['Ada'] }),
    call('read_graph'),
  ];
}

function thinking(): Step[] {
  const thought = { thought: 'a', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
  return [
    call('sequentialthinking', thought),
    call('sequentialthinking', { ...thought, thoughtNumber: 2, branchFromThought: 1, branchId: 'b' }),
    call('sequentialthinking', { ...thought, thoughtNumber: 3, isRevision: true, revisesThought: 1 }),
    call('sequentialthinking', { thought: 'a' }),
  ];
}

/** There is no browser: every tool must say so in the same words. */
function playwright(folder: string): Step[] {
  const target = 'button';
  const calls: Record<string, Json> = {
    browser_close: {},
    browser_resize: { width: 640, height: 480 },
    browser_console_messages: { level: 'info' },
    browser_handle_dialog: { accept: true },
    browser_emulate_media: { colorScheme: 'dark' },
    browser_evaluate: { function: '() => 1' },
    browser_file_upload: { paths: [join(folder, 'files', 'poem.txt')] },
    browser_drop: { target, data: { 'text/plain': 'x' } },
    browser_find: { text: 'x' },
    browser_fill_form: { fields: [{ target, name: 'n', type: 'textbox', value: 'v' }] },
    browser_press_key: { key: 'a' },
    browser_type: { target, text: 'x' },
    browser_navigate: { url: 'data:text/html,hello' },
    browser_navigate_back: {},
    browser_network_requests: { static: false },
    browser_network_request: { index: 1 },
    browser_run_code_unsafe: { code: 'async () => 1' },
    browser_take_screenshot: { scale: 'css' },
    browser_snapshot: {},
    browser_click: { target },
    browser_drag: { startTarget: target, endTarget: target },
    browser_hover: { target },
    browser_select_option: { target, values: ['a'] },
    browser_tabs: { action: 'list' },
    browser_wait_for: { time: 0 },
  };
  const each = Object.entries(calls).map(([tool, args]) => call(tool, args));
  return [...each, call('browser_navigate', {})];
}

function context7(): Step[] {
  return [
    call('resolve-library-id', { query: 'routing', libraryName: 'express' }),
    call('resolve-library-id', {}),
    call('query-docs', { libraryId: '/expressjs/express', query: 'routing' }),
    call('query-docs', { libraryId: 7 }),
  ];
}

function pdf(file: string): Step[] {
  const request = { requestId: 'none' };
  const viewUUID = '00000000-0000-4000-8000-000000000000';
  return [
    call('list_pdfs'),
    call('read_pdf_bytes', { url: file, offset: 0, byteCount: 64 }),
    call('read_pdf_bytes', { url: `${file}.missing` }),
    call('display_pdf', { url: file }, randomId),
    call('display_pdf', { url: `${file}.missing` }),
    call('interact', { viewUUID, action: 'navigate', page: 1 }),
    call('poll_pdf_commands', { viewUUID }),
    call('submit_page_data', { ...request, pages: [{ page: 1, text: 'x' }] }),
    call('submit_save_data', { ...request, data: '' }),
    call('submit_viewer_state', { ...request, state: '{}' }),
    call('save_pdf', { url: file, data: '' }, time),
    read('ui://pdf-viewer/mcp-app.html'),
  ];
}

function map(): Step[] {
  return [
    call('show-map', { west: 1, south: 2, east: 3, north: 4, label: 'here' }, randomId),
    call('show-map', { west: 'far' }),
    // A well-formed question would go to the internet.
    call('geocode', {}),
    read('ui://cesium-map/mcp-app.html'),
  ];
}

function debug(): Step[] {
  const kinds = ['text', 'image', 'audio', 'resource', 'resourceLink', 'mixed'];
  return [
    ...kinds.map((contentType) => call('debug-tool', { contentType }, time)),
    call('debug-tool', { multipleBlocks: false, includeStructuredContent: false, includeMeta: false }, time),
    call('debug-tool', { largeInput: 'x'.repeat(100_000), delayMs: 50 }, time),
    call('debug-tool', { simulateError: true }, time),
    call('debug-tool', { contentType: 'nonsense' }),
    call('debug-refresh', {}, time),
    call('debug-log', { type: 'note', payload: { deep: [1, { er: null }] } }, time),
    read('ui://debug-tool/mcp-app.html'),
  ];
}

function threejs(): Step[] {
  return [
    call('show_threejs_scene', { code: 'const scene = new THREE.Scene();' }),
    call('show_threejs_scene', { code: 7 }),
    call('learn_threejs'),
    read('ui://threejs/mcp-app.html'),
  ];
}

function commands(folder: string): Step[] {
  return [
    call('run_command', { command: 'echo out; echo err >&2; exit 3' }),
    call('run_command', { command: 'pwd', workdir: folder }),
    call('run_command', { command: 'tr a-z A-Z', stdin: 'shout\n' }),
    call('run_command', { command: 'no-such-command-anywhere' }),
    call('run_command', {}),
    prompt('run_command', { command: 'echo hello' }),
    prompt('run_command'),
  ];
}

function hello(): Step[] {
  return [
    call('echo', { message: 'hello' }),
    call('debug', {}),
    call('add', { a: 1, b: 2 }),
    call('add', { a: 1 }),
    read('hello://world'),
    read('greeting://weir'),
    prompt('helpful-assistant'),
  ];
}

function notion(): Step[] {
  const id = '00000000-0000-4000-8000-000000000000';
  const page = { page_id: id };
  const source = { data_source_id: id };
  const block = { block_id: id };
  const parent = { type: 'page_id', page_id: id };
  const calls: Record<string, Json> = {
    'API-get-user': { user_id: id },
    'API-get-users': {},
    'API-get-self': {},
    'API-post-search': { query: 'x' },
    'API-get-block-children': block,
    'API-patch-block-children': { ...block, children: [] },
    'API-retrieve-a-block': block,
    'API-update-a-block': block,
    'API-delete-a-block': block,
    'API-retrieve-a-page': page,
    'API-patch-page': page,
    'API-post-page': { parent, properties: {} },
    'API-retrieve-a-page-property': { ...page, property_id: 'p' },
    'API-retrieve-a-comment': block,
    'API-create-a-comment': { parent, rich_text: [] },
    'API-query-data-source': source,
    'API-retrieve-a-data-source': source,
    'API-update-a-data-source': source,
    'API-create-a-data-source': { parent, properties: {} },
    'API-list-data-source-templates': source,
    'API-retrieve-a-database': { database_id: id },
    'API-move-page': { ...page, parent },
    'API-retrieve-page-markdown': page,
    'API-update-page-markdown': { ...page, type: 'replace_content' },
  };
  return Object.entries(calls).map(([tool, args]) => call(tool, args));
}

function call(name: string, args: Json = {}, ...masks: Mask[]): Step {
  return { method: 'tools/call', params: { name, arguments: args }, masks, asks: false };
}

function asking(name: string, args: Json = {}, ...masks: Mask[]): Step {
  return { ...call(name, args, ...masks), asks: true };
}

function read(uri: string, ...masks: Mask[]): Step {
  return { method: 'resources/read', params: { uri }, masks, asks: false };
}

function prompt(name: string, args?: Json, ...masks: Mask[]): Step {
  const params = { name, ...(args && { arguments: args }) };
  return { method: 'prompts/get', params, masks, asks: false };
}

function completion(ref: Json, argument: Json, known?: Json): Step {
  const params = { ref, argument, ...(known && { context: { arguments: known } }) };
  return { method: 'completion/complete', params, masks: [], asks: false };
}
