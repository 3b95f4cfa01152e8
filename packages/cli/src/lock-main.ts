import type { Command } from './arguments.ts';
import { lockHelp } from './help.ts';
import { writeLock } from './lock.ts';
import { PROGRAM } from './program.ts';
import { runMain, stopped, withLog } from './run.ts';
import { VERSION } from './version.ts';

runMain(run);

async function run(command: Command): Promise<void> {
  if (command.run === 'help') process.stdout.write(lockHelp(PROGRAM));
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else if (command.run === 'lock') {
    const context = { env: process.env, output: process.stdout, stopped: stopped() };
    await withLog(command.args, (log) => writeLock(command.args, { ...context, log }));
  }
}
