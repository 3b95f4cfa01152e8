// @ts-check
// The path of one `tools/call`, measured in a gateway of the checkout at `root` between a client and a server on stdio: the
// files whose functions every call ran, and the calls on the stack when the request gets an id of the gateway's.
import { existsSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** @typedef {{ url: string; name: string; at: { scriptId: string; offset: number }; count: number }} Ran */
/** @typedef {{ files: string[]; functions: number; stack: string[] }} CallPath */
/** @typedef {{ dispatch: string; ids: string[] }} Landmarks Names of functions; `caller/callee` in `ids`, one of which makes the id. */

const WARM_UP_CALLS = 50;
/** Timers run during some calls. The functions that ran in each of several are those of the call. */
const MEASURED_CALLS = 10;
const server = fileURLToPath(new URL('../../bench/server.mjs', import.meta.url));

/**
 * @param {string} root
 * @param {Landmarks} landmarks
 * @returns {Promise<CallPath>}
 */
export async function measureCallPath(root, landmarks) {
  const dist = join(root, 'packages', 'gateway', 'dist');
  const library = join(dist, 'index.js');
  if (!existsSync(library)) throw new Error(`${library} is missing: run npm run build in ${root}`);
  const client = await connect(await import(pathToFileURL(library).href));
  const inspector = new Session();
  inspector.connect();
  try {
    for (let i = 0; i < WARM_UP_CALLS; i++) await client.callTool();
    const url = pathToFileURL(`${dist}/`).href;
    const ran = await functionsOfEachCall(inspector, url, client.callTool);
    const stack = await stackAtId(inspector, { url, ran, landmarks }, client.callTool);
    const files = [...new Set(ran.map((one) => one.url.slice(url.length).replace(/js$/, 'ts')))].sort();
    return { files, functions: ran.reduce((sum, { count }) => sum + count, 0), stack };
  } finally {
    inspector.disconnect();
    await client.close();
  }
}

/**
 * Starts a gateway with one server and takes the place of its client.
 * @param {any} library
 */
async function connect({ createGateway, serveStdio }) {
  const config = { mcpServers: { bench: { command: process.execPath, args: [server] } } };
  // As the command starts it.
  const gateway = createGateway(config, { keepResults: false });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(gateway, { input, output, serverInfo: { name: 'numbers', version: '0' } });
  const lines = createInterface({ input: output });
  const ask = async (/** @type {string} */ method, /** @type {object} */ params) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    const answer = await Promise.race([nextAnswer(lines), served]);
    if (answer?.result === undefined)
      throw new Error(`The gateway answered ${method} with ${JSON.stringify(answer)}`);
    return answer.result;
  };
  const clientInfo = { name: 'numbers', version: '0' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { tools } = await ask('tools/list', {});
  return {
    callTool: () => ask('tools/call', { name: tools[0].name, arguments: {} }),
    close: () => {
      input.end();
      return served;
    },
  };
}

/**
 * @param {import('node:readline').Interface} lines
 * @returns {Promise<any>}
 */
function nextAnswer(lines) {
  return new Promise((resolve) => {
    lines.on('line', function take(line) {
      const message = JSON.parse(line);
      if (message.id === undefined) return;
      lines.off('line', take);
      resolve(message);
    });
  });
}

/**
 * Returns the gateway's functions that ran in each of several calls, with the fewest times that one did.
 * @param {Session} inspector
 * @param {string} url
 * @param {() => Promise<unknown>} callTool
 */
async function functionsOfEachCall(inspector, url, callTool) {
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  /** @type {Map<string, Ran> | undefined} */
  let common;
  for (let i = 0; i < MEASURED_CALLS; i++) {
    await inspector.post('Profiler.takePreciseCoverage');
    await callTool();
    const { result } = await inspector.post('Profiler.takePreciseCoverage');
    const ran = functionsIn(result.filter((script) => script.url.startsWith(url)));
    common = common === undefined ? ran : intersection(common, ran);
  }
  await inspector.post('Profiler.stopPreciseCoverage');
  return [...(common?.values() ?? [])];
}

/** @param {import('node:inspector').Profiler.ScriptCoverage[]} scripts */
function functionsIn(scripts) {
  const all = scripts.flatMap(({ scriptId, url, functions }) =>
    functions.flatMap(({ functionName: name, ranges: [range] }) =>
      range === undefined || range.count === 0
        ? []
        : [{ url, name, at: { scriptId, offset: range.startOffset }, count: range.count }],
    ),
  );
  return new Map(all.map((ran) => [`${ran.url}:${ran.at.offset}`, ran]));
}

/**
 * @param {Map<string, Ran>} one
 * @param {Map<string, Ran>} other
 */
function intersection(one, other) {
  const both = [...one].filter(([key]) => other.has(key));
  return new Map(
    both.map(([key, ran]) => [key, { ...ran, count: Math.min(ran.count, other.get(key)?.count ?? 0) }]),
  );
}

/**
 * Returns the functions on the stack when the id is made, from the one that dispatch calls to the one that makes it.
 * @param {Session} inspector
 * @param {{ url: string; ran: Ran[]; landmarks: Landmarks }} where
 * @param {() => Promise<unknown>} callTool
 */
async function stackAtId(inspector, { url, ran, landmarks }, callTool) {
  const makers = landmarks.ids.map((id) => id.split('/').reverse());
  /** @type {Frame[][]} */
  const stacks = [];
  // The condition of a breakpoint takes the stack and is false, so that nothing pauses.
  Object.assign(globalThis, { takeStack: () => void stacks.push(framesIn(url)) });
  await inspector.post('Debugger.enable');
  for (const { at } of ran.filter(({ name }) => makers.some(([maker]) => maker === name)))
    await breakAt(inspector, at, 'takeStack()');
  await callTool();
  await inspector.post('Debugger.disable');
  const isMaker = (/** @type {Frame[]} */ frames) =>
    makers.some((names) => names.every((name, depth) => frames[depth]?.name === name));
  const stack = stacks.find(isMaker) ?? [];
  const calls = stack.findIndex(({ name }) => name.replace('#', '') === landmarks.dispatch);
  if (calls === -1)
    throw new Error(
      `A call does not lead from ${landmarks.dispatch} to ${landmarks.ids.join(' or ')}: name its functions by --dispatch and --id, or change their defaults in scripts/numbers.mjs`,
    );
  return stack
    .slice(0, calls)
    .reverse()
    .map(({ file, name }) => `${file} ${name}`);
}

/**
 * @param {Session} inspector
 * @param {Ran['at']} at
 * @param {string} condition
 */
async function breakAt(inspector, { scriptId, offset }, condition) {
  const { scriptSource } = await inspector.post('Debugger.getScriptSource', { scriptId });
  const before = scriptSource.slice(0, offset).split('\n');
  const start = { scriptId, lineNumber: before.length - 1, columnNumber: before.at(-1)?.length ?? 0 };
  const { locations } = await inspector.post('Debugger.getPossibleBreakpoints', {
    start,
    restrictToFunction: true,
  });
  for (const location of locations.slice(0, 1))
    await inspector.post('Debugger.setBreakpoint', { location, condition });
}

/** @typedef {{ file: string; name: string }} Frame */

/**
 * Returns the calls of functions below `url` that are under way, the innermost first.
 * @param {string} url
 */
function framesIn(url) {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  const lines = new Error('a stack is wanted').stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  return lines.flatMap((line) => {
    const [, name = '(anonymous)', file = ''] =
      /^ +at (?:(?:[^(]*[. ])?(\S+) \()?(file:.*?):\d+:\d+\)?$/.exec(line) ?? [];
    return file.startsWith(url) ? [{ file: file.slice(url.length).replace(/js$/, 'ts'), name }] : [];
  });
}
