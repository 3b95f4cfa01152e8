import type { Command } from './arguments.ts';
import { collectGarbage, showContainers } from './docker.ts';
import { dockerHelp } from './help.ts';
import { PROGRAM } from './program.ts';
import { runMain } from './run.ts';
import { VERSION } from './version.ts';

runMain(run);

async function run(command: Command): Promise<void> {
  if (command.run === 'help') process.stdout.write(dockerHelp(PROGRAM));
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else if (command.run === 'docker') {
    const { action, json } = command.args;
    const perform = action === 'ps' ? showContainers : collectGarbage;
    await perform({ env: process.env, output: process.stdout, json });
  }
}
