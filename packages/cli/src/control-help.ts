import type { Program } from './program.ts';

/** For all commands that speak to gateways that run. */
export const controlHelp = ({
  name,
}: Program): string => `Ask and tell the gateways that run, those that hosts have started included.

Usage: ${name} ps [--token]
       ${name} history [--follow] [--failed] [--limit N]
       ${name} logs SERVER
       ${name} enable|disable|restart SERVER
       ${name} pause|resume|stop

  --config FILE    only the gateways that were started with this config
  --pid NUMBER     only the gateway that is this process
  --server SERVER  only the calls of this server, for history
  --state DIR      the state folder, if the gateways have another than usual
  --json           prints what a program can read

ps, history and logs ask all gateways; the others need --config or --pid where
there are several. A server that is disabled stays so, also over restarts.
pause cancels calls and refuses new ones until resume; stop ends a gateway.

The history (default: the last 100 calls) knows no arguments, unless a gateway
was started with --history-arguments. Colours go with NO_COLOR.
Exit codes: 0 done, 1 failed or no gateway runs, 2 wrong usage. For ps --json
no gateway is an empty list and 0.
`;

export const controlUsage = ({
  name,
}: Program): string => `Usage: ${name} ps|history|logs|enable|disable|restart|pause|resume|stop
       [options]
Try '${name} ps --help'.`;
