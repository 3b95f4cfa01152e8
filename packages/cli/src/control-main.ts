import { parseControl, type ControlCommand } from './control-arguments.ts';
import { CONTROL_HELP } from './control-help.ts';
import { control } from './control.ts';
import { runParsed, stopped } from './run.ts';
import { VERSION } from './version.ts';

runParsed(parseControl, run);

async function run(command: ControlCommand): Promise<void> {
  if (command.run === 'help') process.stdout.write(CONTROL_HELP);
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else {
    // Who stops reading, as `head` does, wants no more.
    const unread = new Promise<void>((resolve) => process.stdout.once('error', () => resolve()));
    const { env, platform, stdout: output } = process;
    await control(command.args, {
      env,
      platform,
      output,
      now: Date.now,
      stopped: Promise.race([stopped(), unread]),
    });
  }
}
