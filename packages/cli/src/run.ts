import type { CliArgs } from '@weir/gateway';
import { parse } from './args.ts';
import type { Bundle } from './bundles.ts';
import { commandFor, STDIO, type Command, type CommandName } from './commands/table.ts';
import type { Context, Run } from './context.ts';
import { describeError, UsageError } from './errors.ts';
import { createLog, type CliLog } from './output/log.ts';
import { PROGRAM, VERSION } from './program.ts';

const EXIT = { GOOD: 0, FAILED: 1, USAGE: 2 } as const;

/** Milliseconds that the reader of stdout has for the last output. */
const LAST_WRITE_MS = 500;

type CommandsIn<B extends Bundle> = B extends CommandName ? B : Exclude<CommandName, Bundle>;

/** Runs the command that the command line names, then ends the process with its exit code. */
export function start<B extends Bundle>(commands: Readonly<Record<CommandsIn<B>, Run>>): void {
  // A reader that stops, as `head` does, needs no more output; a gateway notices and ends.
  process.stdout.on('error', () => {});
  void attempt(commands).then((code) => {
    process.exitCode = code;
    // An open handle such as a terminal on stdin may still hold the event loop; all output has been written.
    process.stdout.write('', () => process.exit());
    // A client that has stopped reading must not keep the process alive.
    setTimeout(() => process.exit(), LAST_WRITE_MS);
  });
}

async function attempt(commands: Readonly<Record<string, Run>>): Promise<number> {
  const argv = process.argv.slice(2);
  const command = commandFor(argv[0]);
  try {
    await perform(command, command === STDIO ? argv : argv.slice(1), commands);
    return EXIT.GOOD;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`${describeError(error)}\n${isUsage ? await usageOf(command) : ''}`);
    return isUsage ? EXIT.USAGE : EXIT.FAILED;
  }
}

async function perform(
  command: Command,
  words: readonly string[],
  commands: Readonly<Record<string, Run>>,
): Promise<void> {
  const parsed = parse(command, words);
  if ('values' in parsed) return commands[command.name]?.(parsed.values, processContext());
  if (parsed.print === 'version') return void process.stdout.write(`${VERSION}\n`);
  const { help } = await import('./help.ts');
  process.stdout.write(help(command, PROGRAM));
}

async function usageOf(command: Command): Promise<string> {
  const { usage } = await import('./help.ts');
  return `\n${usage(command, PROGRAM)}\n`;
}

function processContext(): Context {
  const { env, platform, stdout: output } = process;
  return { env, platform, output, program: PROGRAM, now: Date.now, stopped, onHangUp };
}

/** Opens a log while `serve` runs; its last line is the error that `serve` fails with. */
export async function withLog(
  { debug = false, logFile }: Pick<CliArgs, 'debug' | 'logFile'>,
  serve: (log: CliLog) => Promise<void>,
): Promise<void> {
  const log = createLog({ debug, file: logFile, stderr: () => process.stderr, now: Date.now });
  try {
    await serve(log);
  } catch (error) {
    if (log.isFile()) log.error(describeError(error));
    throw error;
  } finally {
    await log.close();
  }
}

/** Resolves at a signal to stop, and rejects at an uncaught error, so that the command can stop its servers first. */
function stopped(): Promise<void> {
  return Promise.race([stopSignal(), uncaughtError()]);
}

/** Listens to SIGHUP; on a terminal the signal means that the terminal was closed. */
function onHangUp(reload: () => void): void {
  if (process.stdin.isTTY || process.platform === 'win32') return;
  process.removeAllListeners('SIGHUP').on('SIGHUP', reload);
}

/** Resolves at the first signal to stop, unless the signal has another listener; a second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      if (process.listenerCount(signal) === 0) process.once(signal, () => stop());
  });
}

function uncaughtError(): Promise<never> {
  return new Promise((_, fail) => {
    process.once('uncaughtException', fail).once('unhandledRejection', fail);
  });
}
