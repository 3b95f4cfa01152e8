// The least that a hop of HTTP costs on bare sockets: finds where messages end, and passes bodies on, unread.
import { connect, createServer } from 'node:net';

const target = new URL(process.argv[2]);
/** Connections to the target without a request. */
const free = [];

const server = createServer({ noDelay: true }, (client) => {
  const read = messages((head, body) => {
    const sent = head
      .replace(/\r\nhost: [^\r]*/i, `\r\nHost: ${target.host}`)
      .replace(/ \S+ /, ` ${target.pathname} `);
    const connection = free.pop() ?? connectToTarget();
    connection.answered = (answer) => {
      free.push(connection);
      client.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`,
        'latin1',
      );
    };
    connection.socket.write(`${sent}\r\n\r\n${body}`, 'latin1');
  });
  client.on('data', (chunk) => read(chunk.latin1Slice())).on('error', () => {});
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));

function connectToTarget() {
  const socket = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
  const connection = { socket, answered: undefined };
  const read = messages((_, body) => connection.answered(body));
  socket.on('data', (chunk) => read(chunk.latin1Slice())).on('error', () => {});
  return connection;
}

/** Collects the messages of a connection, which come one at a time: with a length, or in one chunk. */
function messages(received) {
  let text = '';
  return (part) => {
    text += part;
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = text.slice(0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    const isComplete =
      length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length === end + 4 + Number(length);
    if (!isComplete) return;
    const body = text.slice(end + 4);
    text = '';
    received(head, length === undefined ? body.slice(body.indexOf('\r\n') + 2, -7) : body);
  };
}
