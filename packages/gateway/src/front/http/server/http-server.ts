import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { now } from '../../../time/clock.ts';
import { ClientConnection, type ConnectionHandlers, type RequestTimes } from './client-connection.ts';

const MOST_CONNECTIONS = 10_000;
/** Milliseconds between two looks at what is too slow, at most. */
const LONGEST_CHECK_MS = 5000;

/**
 * Serves HTTP/1.1, keep-alive and chunks included, to clients that stand for peers. A proxy of Node's own server and client that reads
 * nothing makes a call to a server on HTTP 1.5 times as long as a direct one; bare sockets make it 1.2 times as long.
 */
export class HttpServer {
  readonly #times: RequestTimes;
  readonly #server: Server;
  readonly #connections = new Set<ClientConnection>();
  #handlers: ConnectionHandlers | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(times: RequestTimes) {
    this.#times = times;
    // Half-open, so that a response which is on its way reaches a client that has ended its side.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#open(socket));
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  /** Resolves with the port. */
  async listen(host: string, port: number): Promise<number> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    return (server.address() as AddressInfo).port;
  }

  /** Serves connections from now on. `notAccepted` gets the error of one that the system refuses, for want of descriptors, say. */
  serve(handlers: ConnectionHandlers, notAccepted: (error: Error) => void): void {
    this.#handlers = handlers;
    this.#server.on('error', notAccepted);
    const every = Math.min(this.#times.headers / 2, LONGEST_CHECK_MS);
    this.#timer = setInterval(() => this.#check(), every).unref();
  }

  /** Accepts nothing more, and ends each connection with its present response. Resolves when all are closed. */
  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.endAfterResponse();
    return closed;
  }

  /** Closes all connections. */
  destroy(): void {
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.destroy();
  }

  #open(socket: Socket): void {
    if (this.#handlers === undefined) return void socket.destroy();
    const connection = new ClientConnection(socket, this.#times, this.#handlers);
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  #check(): void {
    const time = now();
    for (const connection of this.#connections) connection.check(time);
  }
}
