// The least that a hop of HTTP costs with Node's own server and client: passes bodies on, unread.
import { Agent, createServer, request } from 'node:http';

const target = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((req, res) => {
  collect(req, (body) => {
    const headers = { ...req.headers, host: target.host };
    const sent = request(target, { method: req.method, headers, agent }, (answer) => {
      collect(answer, (text) => {
        const type = answer.headers['content-type'] ?? 'text/plain';
        res.writeHead(answer.statusCode, ['Content-Type', type, 'Content-Length', text.length]);
        res.end(text, 'latin1');
      });
    });
    sent.end(body, 'latin1');
  });
});
// Longer than any pause between rounds: no client meets a connection that is just being closed.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));

/** As a text, so that a small body leaves together with its headers. */
function collect(stream, done) {
  let text = '';
  stream.setEncoding('latin1').on('data', (chunk) => (text += chunk));
  stream.on('end', () => done(text));
}
