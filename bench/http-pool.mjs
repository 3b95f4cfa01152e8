// HTTP/1.1 on bare sockets, as much of it as the measuring client needs.
import { connect } from 'node:net';

/** Kept-alive connections to one address; each carries one request at a time, and the one used last is used next. */
export function createPool(url) {
  const { hostname, port, host, pathname, search } = new URL(url);
  const pool = { idle: [], sockets: new Set(), hostname, port };
  return {
    /** The beginning of a request; more headers may be added before it is sent. */
    head: (method, headers) => requestHead(`${method} ${pathname}${search}`, { host, ...headers }),
    /** Sends a request; `received` gets the response and its body, of events as much as has come. */
    send(head, body, received, failed) {
      const connection = pool.idle.pop() ?? openConnection(pool);
      dispatch(connection, { head, body, received, failed });
    },
    close: () => pool.sockets.forEach((socket) => socket.destroy()),
  };
}

/** Opens a stream and throws away what comes; resolves with the function that ends it. */
export function holdOpen(url, head) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port, noDelay: true }).on('error', reject);
    socket.once('data', (chunk) => {
      if (chunk.latin1Slice(9, 12) === '200') resolve(() => socket.destroy());
      else reject(new Error(`${url} opens no stream: ${chunk}`));
    });
    socket.on('data', () => {}).write(`${head}\r\n`);
  });
}

function requestHead(start, headers) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${start} HTTP/1.1\r\n${lines.join('')}`;
}

function openConnection(pool) {
  const socket = connect({ host: pool.hostname, port: pool.port, noDelay: true });
  const connection = { pool, socket, exchange: undefined, response: undefined, rest: EMPTY, isUsed: false };
  pool.sockets.add(socket);
  socket.on('data', (chunk) => receive(connection, chunk));
  socket.on('error', () => {});
  socket.on('close', () => closed(connection));
  return connection;
}

const EMPTY = Buffer.alloc(0);

function dispatch(connection, exchange) {
  connection.exchange = exchange;
  const { head, body } = exchange;
  connection.socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Events are passed on as they come, any other body when it is whole. */
function receive(connection, chunk) {
  const { exchange } = connection;
  let bytes = connection.rest.length === 0 ? chunk : Buffer.concat([connection.rest, chunk]);
  if (connection.response === undefined) {
    const response = readHead(bytes);
    if (response !== undefined) bytes = bytes.subarray(response.size);
    connection.response = response;
  }
  const { response } = connection;
  const { body, rest, isWhole } = response === undefined ? { rest: bytes } : readBody(response, bytes);
  connection.rest = rest;
  if (isWhole) release(connection);
  if (response?.status > 299) exchange.failed(new Error(`answered HTTP ${response.status}: ${body}`));
  else if (isWhole || (response?.isEvents && body.length > 0)) exchange.received(response, body);
}

function release(connection) {
  const { pool, socket, response } = connection;
  Object.assign(connection, { exchange: undefined, response: undefined, rest: EMPTY, isUsed: true });
  if (response.isLast) socket.destroy();
  else pool.idle.push(connection);
}

function closed(connection) {
  const { pool, socket, exchange, isUsed, response } = connection;
  pool.sockets.delete(socket);
  pool.idle = pool.idle.filter((each) => each !== connection);
  if (exchange === undefined) return;
  // A kept connection that the other side has just closed is no fault of the gateway: once more, on a new one.
  if (isUsed && response === undefined) dispatch(openConnection(pool), exchange);
  else exchange.failed(new Error('the connection was closed before the answer came'));
}

/** Undefined as long as something is missing. */
function readHead(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.latin1Slice(0, end);
  return {
    size: end + 4,
    status: Number(head.slice(9, 12)),
    length: Number(/\r\ncontent-length: *(\d+)/iu.exec(head)?.[1] ?? 0),
    isChunked: /\r\ntransfer-encoding: *chunked/iu.test(head),
    session: /\r\nmcp-session-id: *([^\r]+)/iu.exec(head)?.[1],
    isEvents: /\r\ncontent-type: *text\/event-stream/iu.test(head),
    isLast: /\r\nconnection: *close/iu.test(head),
  };
}

/** The `rest` is to be given again, with what follows it. */
function readBody({ isChunked, isEvents, length }, bytes) {
  if (!isChunked && bytes.length < length) return { body: EMPTY, rest: bytes, isWhole: false };
  if (!isChunked) return { body: bytes.subarray(0, length), rest: EMPTY, isWhole: true };
  const { parts, rest, isWhole } = readChunks(bytes);
  if (!isWhole && !isEvents) return { body: EMPTY, rest: bytes, isWhole };
  return { body: parts.length === 1 ? parts[0] : Buffer.concat(parts), rest, isWhole };
}

function readChunks(bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd === -1 ? NaN : Number.parseInt(bytes.latin1Slice(at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (!(next <= bytes.length)) return { parts, rest: bytes.subarray(at), isWhole: false };
    if (size === 0) return { parts, rest: EMPTY, isWhole: true };
    parts.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
