import { resolve } from 'node:path';
import { openControlSocket, gatewayFor, loadConfig, serveStdio } from '@weir/gateway';
import type { Command, StdioArgs } from './arguments.ts';
import { fingerprint } from './fingerprint.ts';
import { help } from './help.ts';
import type { CliLog } from './log.ts';
import { PROGRAM } from './program.ts';
import { reloadOnChange } from './reloading.ts';
import { onHangUp, runMain, stopped, withLog } from './run.ts';
import { placeOf, selfOf } from './self.ts';
import { VERSION } from './version.ts';

const ON_A_TERMINAL = `Serving MCP on stdin and stdout, for a host that starts this command.
Ctrl-C ends it, ${PROGRAM.name} --help tells more.
`;

runMain(run);

async function run(command: Command): Promise<void> {
  if (command.run === 'help') process.stdout.write(help(PROGRAM));
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else if (command.run === 'stdio') await withLog(command.args, (log) => serve(command.args, log));
}

async function serve(args: StdioArgs, log: CliLog): Promise<void> {
  const { configPath, group, name, version } = args;
  // Hosts start us in folders that nobody thinks of: a mistake names the whole path.
  const known = fingerprint(configPath);
  const loaded = loadConfig(resolve(configPath), { env: process.env });
  const { path, warnings } = loaded;
  for (const warning of warnings) log.warn(warning);
  const gateway = gatewayFor(loaded, {
    ...args,
    commandName: PROGRAM.name,
    keepResults: false,
    statusTool: PROGRAM.statusTool,
    version: VERSION,
    env: process.env,
    log,
  });
  const control = openControlSocket(gateway, selfOf({ mode: 'stdio', configPath: path }), placeOf(args));
  const serving = serveStdio(gateway, {
    input: process.stdin,
    output: process.stdout,
    serverInfo: { name, version },
    group,
    stopped: control.stopped,
  });
  if (process.stdin.isTTY) process.stderr.write(ON_A_TERMINAL);
  const reloading = reloadOnChange(gateway, { path, known, env: process.env, log, onHangUp });
  const stop = stopped();
  try {
    await Promise.race([serving, stop]);
  } finally {
    reloading.close();
    await Promise.all([gateway.close(), control.close()]);
  }
}
