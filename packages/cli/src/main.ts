#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createGateway, loadConfig, serveStdio, type CliArgs } from '@weir/gateway';
import { parseArguments, UsageError, type Command, type ServeArgs } from './arguments.ts';
import { describeFailure } from './describe-failure.ts';
import { HELP, SERVE_HELP } from './help.ts';
import { createLog, type CliLog } from './log.ts';
import { serveOnHttp } from './serve.ts';
import { VERSION } from './version.ts';

const EXIT = { GOOD: 0, FAILED: 1, USAGE: 2 } as const;

const DEFAULT_NAME = 'mcp-simple-aggregator';
const DEFAULT_VERSION = '1.0.0';
/** How long the client may take to read our last words. */
const LAST_WRITE_MS = 500;
const ON_A_TERMINAL = `Serving MCP on stdin and stdout, for a host that starts this command.
Ctrl-C ends it, weir --help tells more.
`;

// Who stops reading, as `head` does, needs no more of us; a gateway notices and ends.
process.stdout.on('error', () => {});

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  // Something of ours may still hold the loop (a terminal on stdin, say); what had to be written has been written.
  process.stdout.write('', () => process.exit());
  // A client that has stopped reading does not keep us.
  setTimeout(() => process.exit(), LAST_WRITE_MS);
});

async function main(argv: readonly string[]): Promise<number> {
  try {
    const command = parseArguments(argv, process.env);
    await run(command);
    return EXIT.GOOD;
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    return error instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
  }
}

async function run(command: Command): Promise<void> {
  if (command.run === 'help') process.stdout.write(command.of === 'serve' ? SERVE_HELP : HELP);
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else if (command.run === 'serve') await withLog(command.args, (log) => serveHere(command.args, log));
  else await withLog(command.args, (log) => serveOnStdio(command.args, log));
}

async function withLog(
  { debug = false, logFile }: Pick<CliArgs, 'debug' | 'logFile'>,
  serve: (log: CliLog) => Promise<void>,
): Promise<void> {
  const log = createLog({ debug, file: logFile, stderr: process.stderr, now: () => new Date() });
  try {
    await serve(log);
  } catch (error) {
    if (log.isFile()) log.error(describeFailure(error));
    throw error;
  } finally {
    await log.close();
  }
}

function serveHere(args: ServeArgs, log: CliLog): Promise<void> {
  const { name = DEFAULT_NAME, version = DEFAULT_VERSION } = args;
  return serveOnHttp(args, {
    log,
    env: process.env,
    output: process.stdout,
    home: dirname(realpathSync(process.argv[1] ?? '.')),
    serverInfo: { name, version },
    stopped: Promise.race([stopSignal(), ownMistake()]),
  });
}

async function serveOnStdio(args: CliArgs, log: CliLog): Promise<void> {
  const { configPath, name = DEFAULT_NAME, version = DEFAULT_VERSION } = args;
  // Hosts start us in folders that nobody thinks of: a mistake names the whole path.
  const { config, warnings } = loadConfig(resolve(configPath), { env: process.env });
  for (const warning of warnings) log.warn(warning);
  const gateway = createGateway(config, { ...args, version: VERSION, env: process.env, log });
  const serving = serveStdio(gateway, {
    input: process.stdin,
    output: process.stdout,
    serverInfo: { name, version },
  });
  if (process.stdin.isTTY) process.stderr.write(ON_A_TERMINAL);
  try {
    await Promise.race([serving, stopSignal(), ownMistake()]);
  } finally {
    await gateway.close();
  }
}

/** Whoever sends one of these wants an orderly end; a second one ends us at once. */
function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop());
  });
}

/** What nobody has caught ends the gateway too, in order: no server is left behind. */
function ownMistake(): Promise<never> {
  return new Promise((_, fail) => {
    process.once('uncaughtException', fail).once('unhandledRejection', fail);
  });
}
