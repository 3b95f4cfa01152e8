#!/usr/bin/env node
import { ConfigError, createGateway, describeConfigError, loadConfig, serveStdio, type CliArgs } from '@weir/gateway';
import { parseArguments, UsageError, type Command } from './arguments.ts';
import { HELP } from './help.ts';
import { createLog, type CliLog } from './log.ts';
import { VERSION } from './version.ts';

const EXIT = { GOOD: 0, FAILED: 1, USAGE: 2 } as const;

const DEFAULT_NAME = 'mcp-simple-aggregator';
const DEFAULT_VERSION = '1.0.0';

process.exitCode = await main(process.argv.slice(2));
// Something of ours may still hold the loop (a terminal on stdin, say); what had to be written has been written.
process.stdout.write('', () => process.exit());

async function main(argv: readonly string[]): Promise<number> {
  try {
    const command = parseArguments(argv, process.env);
    return await run(command);
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    return error instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
  }
}

async function run(command: Command): Promise<number> {
  if (command.run === 'help') process.stdout.write(HELP);
  else if (command.run === 'version') process.stdout.write(`${VERSION}\n`);
  else await serve(command.args);
  return EXIT.GOOD;
}

async function serve(args: CliArgs): Promise<void> {
  const { configPath, debug = false, logFile, name = DEFAULT_NAME, version = DEFAULT_VERSION } = args;
  const { config, warnings } = loadConfig(configPath, { env: process.env });
  const log = createLog({ debug, file: logFile, stderr: process.stderr, now: () => new Date() });
  for (const warning of warnings) log.warn(warning);
  const gateway = createGateway(config, { ...args, version: VERSION, env: process.env, log });
  endWith(log, () => gateway.close());
  try {
    await serveStdio(gateway, {
      input: process.stdin,
      output: process.stdout,
      serverInfo: { name, version },
      clientInfo: { name: 'mcp-aggregator-client', version: VERSION },
    });
  } finally {
    await log.close();
  }
}

/** A signal ends the gateway as asked; a mistake of our own ends it too, and both leave nothing behind. */
function endWith(log: CliLog, close: () => Promise<void>): void {
  const end = async (code: number): Promise<void> => {
    await close();
    await log.close();
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end(EXIT.GOOD));
  const crash = (error: unknown): void => {
    log.error(`Unexpected error, stopping: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    void end(EXIT.FAILED);
  };
  process.once('uncaughtException', crash).once('unhandledRejection', crash);
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${HELP}`;
  if (error instanceof ConfigError) return describeConfigError(error);
  return error instanceof Error ? error.message : String(error);
}
