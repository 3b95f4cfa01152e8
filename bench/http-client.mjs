// The measuring client's two HTTP transports, on bare node:http: Streamable HTTP (2025) and HTTP+SSE.
import { Agent, request } from 'node:http';

/** Every line is a POST of its own; the answer comes in its response, as JSON or as an event. */
export function connectStreamable(client, url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  client.post = (text) => {
    for (const line of linesOf(text)) {
      void post(url, { agent, headers, body: line }).then((response) => {
        const session = response.headers['mcp-session-id'];
        if (session !== undefined) headers['mcp-session-id'] = session;
        for (const message of messagesOf(response)) client.receive(Buffer.from(`${message}\n`));
      }, client.fail);
    }
  };
}

/** Lines are posted to the address that the event stream names first; all answers come on that stream. */
export function connectEvents(client, url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const headers = { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      const events = eventReader((event, data) => {
        if (event !== 'endpoint') return client.receive(Buffer.from(`${data}\n`));
        const endpoint = new URL(data, url);
        client.post = (text) => {
          for (const line of linesOf(text))
            void post(endpoint, { agent, headers, body: line }).catch(client.fail);
        };
        return resolve();
      });
      return response.setEncoding('utf8').on('data', events);
    });
    outgoing.on('error', reject).end();
  });
}

const linesOf = (text) => text.split('\n').filter((line) => line !== '');

/** A kept-alive socket that the other side has just closed is no fault of the gateway: once more. */
async function post(url, options) {
  try {
    return await postOnce(url, options);
  } catch (error) {
    if (error.code !== 'ECONNRESET') throw error;
    return postOnce(url, options);
  }
}

function postOnce(url, { agent, headers, body }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ headers: response.headers, text }));
    });
    outgoing.on('error', reject).end(body);
  });
}

function messagesOf({ headers, text }) {
  if (!headers['content-type']?.startsWith('text/event-stream')) return text === '' ? [] : [text];
  const messages = [];
  eventReader((_event, data) => data !== '' && messages.push(data))(text);
  return messages;
}

function eventReader(onEvent) {
  let rest = '';
  return (chunk) => {
    const blocks = (rest + chunk).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const field = (name) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      if (field('data') !== undefined) onEvent(field('event') ?? 'message', field('data'));
    }
  };
}
