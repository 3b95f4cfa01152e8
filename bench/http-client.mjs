// The measuring client's HTTP transports, on bare sockets: Node's own HTTP client costs about as much per call as the
// gateway that is measured, and would make all variants look alike.
import { request } from 'node:http';
import { createPool, holdOpen } from './http-pool.mjs';
import { createNodePool } from './node-pool.mjs';

const MODERN = '2026-07-28';
const WITH_SESSIONS = '2025-11-25';
const COMMON = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** What every request of the 2026 revision says of its sender. */
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The 2026 revision: no session; each request, a POST of its own, repeats in its headers what it is. */
export function connectModern(client, url, { token } = {}) {
  const pool = createPool(url);
  const head = pool.head('POST', { ...COMMON, ...bearer(token), 'mcp-protocol-version': MODERN });
  const receive = (response, body) => deliver(client, response, body);
  client.post = (text) => {
    for (const line of linesOf(text)) {
      const [, method, name] = SUBJECT.exec(line);
      const subject = name === undefined ? '' : `mcp-name: ${name}\r\n`;
      pool.send(`${head}mcp-method: ${method}\r\n${subject}`, line, receive, client.fail);
    }
  };
  client.disconnect = pool.close;
}

/** The same on Node's own HTTP client; answers are single JSON messages or a stream that ends with one. */
export function connectModernByNode(client, url, { token } = {}) {
  const pool = createNodePool(url);
  const head = pool.head('POST', { ...COMMON, ...bearer(token), 'mcp-protocol-version': MODERN });
  const received = ({ statusCode, headers }, chunks) => {
    const body = Buffer.concat(chunks);
    if (statusCode > 299) return client.fail(new Error(`answered HTTP ${statusCode}: ${body}`));
    return deliver(client, { isEvents: headers['content-type']?.startsWith('text/event-stream') }, body);
  };
  client.post = (text) => {
    for (const line of linesOf(text)) {
      const [, method, name] = SUBJECT.exec(line);
      const subject = { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) };
      pool.send(head, subject, line, { received, failed: client.fail });
    }
  };
  client.disconnect = pool.close;
}

// As the client's own lines are written: the method, then the parameters, of which the name comes first.
const SUBJECT = /"method":"([^"]+)","params":\{(?:"name":"([^"]+)")?/u;

/** The 2025 revision: one session, or several in turn; none with a server that opens none. */
export function connectStreamable(client, url, { token } = {}) {
  const pool = createPool(url);
  const headers = { ...COMMON, ...bearer(token) };
  const headOf = (session) => {
    const named = session === undefined ? headers : { ...headers, 'mcp-session-id': session };
    return pool.head('POST', { ...named, 'mcp-protocol-version': WITH_SESSIONS });
  };
  let heads = [pool.head('POST', headers)];
  let turn = 0;
  let isOpen = false;
  const receive = (response, body) => {
    if (!isOpen) {
      isOpen = true;
      client.session = response.session;
      heads = [headOf(client.session)];
    }
    deliver(client, response, body);
  };
  client.post = (text) => {
    for (const line of linesOf(text)) pool.send(heads[turn++ % heads.length], line, receive, client.fail);
  };
  client.useSessions = (sessions) => (heads = sessions.map(headOf));
  client.listen = () => listen(pool, url, { ...bearer(token), 'mcp-session-id': client.session });
  client.disconnect = pool.close;
}

/** Opens the session's stream for what belongs to no request, as clients do. */
function listen(pool, url, headers) {
  const head = pool.head('GET', {
    ...headers,
    accept: 'text/event-stream',
    'mcp-protocol-version': WITH_SESSIONS,
  });
  return holdOpen(url, head);
}

/** HTTP+SSE: lines are posted to the address that the event stream names first; all answers come on that stream. */
export function connectEvents(client, url) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      const events = eventReader((event, data) => {
        if (event !== 'endpoint') return client.receive(Buffer.from(`${data}\n`));
        postTo(client, new URL(data, url), outgoing);
        return resolve();
      });
      return response.setEncoding('utf8').on('data', events);
    });
    outgoing.on('error', reject).end();
  });
}

function postTo(client, endpoint, stream) {
  const pool = createPool(endpoint);
  const head = pool.head('POST', COMMON);
  client.post = (text) => {
    for (const line of linesOf(text)) pool.send(head, line, () => {}, client.fail);
  };
  client.disconnect = () => {
    stream.destroy();
    pool.close();
  };
}

const bearer = (token) => (token === undefined ? {} : { authorization: `Bearer ${token}` });

const linesOf = (text) => text.split('\n').filter((line) => line !== '');

const NEWLINE = Buffer.from('\n');

/** To the client every message is a line. */
function deliver(client, response, body) {
  if (response.isEvents) {
    response.read ??= eventReader((_event, data) => data !== '' && client.receive(Buffer.from(`${data}\n`)));
    response.read(`${body}`);
  } else if (body.length > 0) client.receive(Buffer.concat([body, NEWLINE]));
}

const DATA = /^data: ?(.*)$/mu;
const EVENT = /^event: ?(.*)$/mu;

function eventReader(onEvent) {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const data = DATA.exec(block)?.[1];
      if (data !== undefined) onEvent(EVENT.exec(block)?.[1] ?? 'message', data);
    }
  };
}
