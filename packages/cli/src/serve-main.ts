import { realpathSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import type { Command, ServeArgs } from './arguments.ts';
import { serveHelp } from './help.ts';
import type { CliLog } from './log.ts';
import { PROGRAM } from './program.ts';
import { onHangUp, runMain, stopped, withLog } from './run.ts';
import { serveOnHttp } from './serve.ts';
import { VERSION } from './version.ts';

runMain(run);

async function run(command: Command): Promise<void> {
  if (command.run === 'help') process.stdout.write(serveHelp(PROGRAM));
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else if (command.run === 'serve') await withLog(command.args, (log) => serve(command.args, log));
}

function serve(args: ServeArgs, log: CliLog): Promise<void> {
  const { name, version } = args;
  return serveOnHttp(args, {
    log,
    env: process.env,
    output: process.stdout,
    home: dirname(realpathSync(process.argv[1] ?? '.')),
    serverInfo: { name, version },
    program: PROGRAM,
    interfaces: networkInterfaces,
    stopped: stopped(),
    onHangUp,
  });
}
