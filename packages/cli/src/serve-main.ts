import { realpathSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Command, ServeArgs } from './arguments.ts';
import { serveHelp } from './help.ts';
import type { CliLog } from './log.ts';
import { PROGRAM } from './program.ts';
import { onHangUp, runMain, stopped, withLog } from './run.ts';
import { serveOnHttp } from './serve.ts';
import { VERSION } from './version.ts';

// Clients and servers make a gateway read many megabytes, beside which its own objects are few. V8 collects all garbage once the two
// together have grown by a part of those objects: once or twice a second under attack, which stops all calls for 10 to 20 ms. One
// and a half times their size instead makes that rarer, at the price of garbage that is kept longer.
setFlagsFromString('--heap-growing-percent=150');

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
