// @ts-check
// A model that follows a script, on 127.0.0.1, in the APIs that hosts speak. Keeps what each request showed it.
import { createServer } from 'node:http';
import { anthropic } from './anthropic.mjs';
import { chat } from './chat.mjs';
import { gemini } from './gemini.mjs';
import { responses } from './responses.mjs';

/**
 * A turn as the host described it: names of the tools, all texts, results of the calls so far.
 * @typedef {{ tools: string[]; text: string; results: string[] }} Turn
 */

/**
 * What the model does next: calls a tool, or says a text and so ends its turn.
 * @typedef {{ id: string; call?: string; args?: Record<string, unknown>; text: string }} Move
 */

/**
 * One API; `Body` is what it reads of a request.
 * @template Body
 * @typedef {object} Dialect
 * @property {(path: string) => boolean} speaks
 * @property {(body: Body) => Turn} read
 * @property {(body: Body, move: Move) => object[]} events
 * @property {(body: Body, move: Move) => object} whole
 * @property {(body: Body, path: string) => boolean} isStreamed
 * @property {string} [end] Data of the event that ends a stream.
 */

/**
 * @typedef {object} ScriptedModel
 * @property {string} url
 * @property {Turn[]} turns
 * @property {string[]} strangers Requests that no API of ours answers.
 * @property {object[]} bodies
 * @property {() => Promise<void>} close
 */

const DIALECTS = [anthropic, chat, responses, gemini];

/** A host that asks more often is in a loop. */
const MAX_REQUESTS = 60;

/**
 * @param {(turn: Turn) => Omit<Move, 'id'>} script
 * @returns {Promise<ScriptedModel>}
 */
export async function startModel(script) {
  /** @type {Turn[]} */
  const turns = [];
  /** @type {string[]} */
  const strangers = [];
  /** @type {object[]} */
  const bodies = [];
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks)));
  });

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   * @param {Buffer} content
   */
  function answer({ method, url = '' }, response, content) {
    const { pathname } = new URL(url, 'http://127.0.0.1');
    const dialect = method === 'POST' ? DIALECTS.find(({ speaks }) => speaks(pathname)) : undefined;
    if (dialect === undefined || turns.length >= MAX_REQUESTS) {
      strangers.push(`${method} ${pathname}`);
      return sendJson(response, otherwise(pathname));
    }
    const body = JSON.parse(content.toString());
    const turn = dialect.read(body);
    turns.push(turn);
    bodies.push(body);
    const move = { id: `call_${turns.length}`, ...script(turn) };
    if (!dialect.isStreamed(body, pathname)) return sendJson(response, dialect.whole(body, move));
    return sendEvents(response, dialect.events(body, move), dialect.end);
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, turns, strangers, bodies, close };
}

/**
 * Answers what hosts ask besides: which models there are, how many tokens a text has.
 * @param {string} path
 */
function otherwise(path) {
  if (/count_?tokens$/i.test(path)) return { input_tokens: 1, totalTokens: 1 };
  if (path.endsWith('/models'))
    return { object: 'list', data: [{ id: 'scripted', object: 'model' }], models: [] };
  return {};
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {object} value
 */
function sendJson(response, value) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {object[]} events
 * @param {string | undefined} end
 */
function sendEvents(response, events, end) {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events) {
    const type = /** @type {{ type?: string }} */ (event).type;
    response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(end === undefined ? '' : `data: ${end}\n\n`);
}
