// The floor for a hop in Node: starts a server and passes bytes both ways, unread.
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.on('exit', (code) => process.exit(code ?? 1));
