import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { shareWithNewcomers } from './connection-account.ts';
import { isPipelineFlooded } from './pipeline.ts';
import { SlicedSocket } from './sliced-socket.ts';

/**
 * Tells of each new connection before it is read. While clients send many requests at once, new connections are parsed in slices,
 * and have the share of one client together until their first answer: who floods the gateway connects again and again.
 */
export function accept(server: Server, opened: (connection: Duplex) => void): void {
  // Node's own listener takes any stream, but stands before all others: it is called by ours instead.
  const [read] = server.listeners('connection') as ((this: Server, connection: Duplex) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    const connection = isPipelineFlooded() ? new SlicedSocket(socket) : socket;
    opened(connection);
    if (connection !== socket) shareWithNewcomers(connection);
    read?.call(server, connection);
  });
}
