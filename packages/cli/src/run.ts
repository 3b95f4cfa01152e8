import type { CliArgs } from '@weir/gateway';
import { parseArguments, UsageError, type Command } from './arguments.ts';
import { describeFailure } from './describe-failure.ts';
import { createLog, type CliLog } from './log.ts';

const EXIT = { GOOD: 0, FAILED: 1, USAGE: 2 } as const;

/** How long the client may take to read our last words. */
const LAST_WRITE_MS = 500;

/** Does what the command line asks for, then ends the process with the code that tells how it went. */
export function runMain(perform: (command: Command) => Promise<void>): void {
  runParsed(parseArguments, perform);
}

type Parse<C> = (argv: readonly string[], env: NodeJS.ProcessEnv) => C;

/** The same for commands whose line is read in another way. */
export function runParsed<C>(parse: Parse<C>, perform: (command: C) => Promise<void>): void {
  // Who stops reading, as `head` does, needs no more of us; a gateway notices and ends.
  process.stdout.on('error', () => {});
  void attempt(parse, perform).then((code) => {
    process.exitCode = code;
    // Something of ours may still hold the loop (a terminal on stdin, say); what had to be written has been written.
    process.stdout.write('', () => process.exit());
    // A client that has stopped reading does not keep us.
    setTimeout(() => process.exit(), LAST_WRITE_MS);
  });
}

async function attempt<C>(parse: Parse<C>, perform: (command: C) => Promise<void>): Promise<number> {
  const argv = process.argv.slice(2);
  try {
    await perform(parse(argv, process.env));
    return EXIT.GOOD;
  } catch (error) {
    const [run] = argv;
    if (error instanceof UsageError && (run === 'serve' || run === 'lock')) error.of = run;
    process.stderr.write(`${describeFailure(error)}\n`);
    return error instanceof UsageError ? EXIT.USAGE : EXIT.FAILED;
  }
}

/** Lends a log for as long as something is served; its last line is why that failed. */
export async function withLog(
  { debug = false, logFile }: Pick<CliArgs, 'debug' | 'logFile'>,
  serve: (log: CliLog) => Promise<void>,
): Promise<void> {
  const log = createLog({ debug, file: logFile, stderr: () => process.stderr, now: Date.now });
  try {
    await serve(log);
  } catch (error) {
    if (log.isFile()) log.error(describeFailure(error));
    throw error;
  } finally {
    await log.close();
  }
}

/** Resolves when somebody wants us to end, and rejects with a mistake that nobody has caught: no server is left behind. */
export function stopped(): Promise<void> {
  return Promise.race([stopSignal(), ownMistake()]);
}

/** Calls back whenever we are told to read the config again. On a terminal the same signal says that it was closed. */
export function onHangUp(reload: () => void): void {
  if (process.stdin.isTTY || process.platform === 'win32') return;
  process.removeAllListeners('SIGHUP').on('SIGHUP', reload);
}

/** Whoever sends one of these wants an orderly end, unless it means something else already; a second one ends us at once. */
function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      if (process.listenerCount(signal) === 0) process.once(signal, () => stop());
  });
}

function ownMistake(): Promise<never> {
  return new Promise((_, fail) => {
    process.once('uncaughtException', fail).once('unhandledRejection', fail);
  });
}
