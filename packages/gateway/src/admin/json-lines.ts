import type { Socket } from 'node:net';

/** Characters. A gateway sends no longer line, so the peer is not one. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Reads one JSON value per line; closes the socket after invalid JSON or a line that is too long. */
export function readLines(
  socket: Socket,
  receive: (value: unknown) => void,
  longest: number = LONGEST_LINE,
): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      if (rest.length > longest) throw new Error('The line is too long');
      for (const line of lines) receive(JSON.parse(line));
    } catch {
      socket.destroy();
    }
  });
}

export function writeLine(socket: Socket, value: unknown): void {
  socket.write(`${JSON.stringify(value)}\n`);
}
