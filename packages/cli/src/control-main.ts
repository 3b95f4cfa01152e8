import { parseControl, type ControlCommand } from './control-arguments.ts';
import { ControlFailure } from './control-failure.ts';
import { controlHelp } from './control-help.ts';
import { control } from './control.ts';
import { PROGRAM } from './program.ts';
import { runParsed, stopped } from './run.ts';
import { VERSION } from './version.ts';

runParsed(parseControl, run);

async function run(command: ControlCommand): Promise<void> {
  if (command.run === 'help') process.stdout.write(controlHelp(PROGRAM));
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else {
    const { env, platform, stdout: output } = process;
    const unread = brokenOff(output);
    const stop = (): Promise<void> => Promise.race([stopped(), unread]);
    await control(command.args, { env, platform, output, now: Date.now, stopped: stop });
    // Who reads slowly, as a person in a pager does, gets all of it.
    await Promise.race([written(output), unread]);
  }
}

/** Who stops reading, as `head` does, wants no more; a full disk is a failure. */
function brokenOff(output: NodeJS.WriteStream): Promise<void> {
  const broken = new Promise<void>((resolve, reject) => {
    output.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') resolve();
      else reject(new ControlFailure(`The output could not be written: ${message}`));
    });
  });
  broken.catch(() => {});
  return broken;
}

/** Resolves when everything has been taken; an error is for others to tell. */
function written(output: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => output.write('', (error) => error ?? resolve()));
}
