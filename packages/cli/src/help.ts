import { CONTROL_COMMANDS } from './commands.ts';
import type { Program } from './program.ts';

/** One screen: 24 lines of 80 columns, the prompt beneath included. */
export const help = ({ name, defaults }: Program): string => `One MCP server made of many, on stdio.

Usage: ${name} --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --separator TEXT         joins server and tool (default "${defaults.separator}")
  --no-prefix              plain tool names; no two servers may share one
  --keep-going             go on without servers that fail${defaults.keepGoing ? ' (default)' : ''}
  --fail-fast              end where a server fails to start${defaults.keepGoing ? '' : ' (default)'}
  --lazy                   start servers at their first call (see lock)
  --fresh                  lists wait for the servers; nothing from memory
  --startup-timeout TIME   for a server to start (default 5s; npx etc. 60s)
  --max-message-size SIZE  the largest message that passes (default 64M)
  --instructions-budget N  characters of all instructions (default 2000)
  --name, --version TEXT   for clients (default ${defaults.name} ${defaults.version})
  --state DIR              memory (default $WEIR_STATE, or your state folder)
  --group NAME             show the client this part of "groups" in the config
  --history-arguments, --debug   keep what calls are given; log all times
  --log-file FILE          log there instead of to stderr
  --version, --help        print the version of Weir, or this text (-v, -h)
Commands (${name} help COMMAND): serve (on HTTP), lock, docker,
${CONTROL_COMMANDS.join(', ')}
Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.
`;

/** The same for the front on HTTP. */
export const serveHelp = ({
  name,
  defaults,
}: Program): string => `One MCP server made of many, on HTTP: Streamable HTTP at /mcp, for any number
of clients, of all revisions of the protocol; HTTP+SSE of 2024-11-05 at /sse.
Also /healthz and /readyz.

Usage: ${name} serve --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --demo                   a few small servers instead, to try it out
  --host ADDRESS           where to listen (default 127.0.0.1: this machine)
  --port NUMBER            (default 8808; 0 takes any that is free)
  --allowed-host HOST      a further name (with its port) that clients may use
  --no-auth                ask for no token; on this machine alone

The token is made at the first start, kept in the state folder, and printed. It
goes with every request: "Authorization: Bearer TOKEN". ${ON_FAILURE[defaults.keepGoing ? 'goesOn' : 'ends']}
Ctrl-C answers what is under way, then ends.
The other options are those on stdio: see ${name} --help.

Examples:
  ${name} serve --demo
  ${name} serve --config mcp.json --port 9000
  ${name} serve --config mcp.json --host 0.0.0.0
`;

const ON_FAILURE = {
  goesOn:
    'Servers that fail to\nstart are left out and tried again; with --fail-fast the first failure ends it.',
  ends: 'The first server that\nfails to start ends it; with --keep-going such servers are left out.',
} as const;

/** The same for the lock file. */
export const lockHelp = ({
  name,
}: Program): string => `Starts every server once and writes down what it offers, in weir.lock.json
beside the config: fit to be committed, and the same for the same servers.

Usage: ${name} lock --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --startup-timeout TIME   for a server to start (default 5s; npx etc. 60s)

With it, or after a first start that has learnt the same, --lazy (or "lazy":
true in an entry) answers lists without starting anything. A server is started
at its first call, and ended when nobody has used it for ten minutes. One that
turns out to offer something else is listed as it is from then on.

Example:
  ${name} lock --config mcp.json

Exit codes: 0 written, 1 failed and nothing was written, 2 wrong usage.
`;

/** The same for what is known of containers. */
export const dockerHelp = ({
  name,
}: Program): string => `The containers that gateways have started for servers with an "image".

Usage: ${name} docker ps|gc [--json]

  ps        lists them: name, server, image, status and gateway
  gc        removes those whose gateway is gone, and no others
  --json    prints what a program can read

Every gateway with such servers does the same as gc when it starts and once a
minute. A container whose gateway runs on another machine, or in another
container, is "elsewhere": nothing here can tell whether that one still lives.

The engine is the one that the docker command uses (DOCKER_HOST, contexts).
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

/** Lines under a command line that cannot be understood: few, so that the mistake does not scroll away. */
export const usage = ({ name }: Program): Record<'stdio' | 'serve' | 'lock' | 'docker', string> => ({
  stdio: `Usage: ${name} --config FILE [options]
Try '${name} help' for all options and commands, or '${name} serve --demo'.`,
  serve: `Usage: ${name} serve --config FILE [options]
Try '${name} serve --help' for the options and some examples.`,
  lock: `Usage: ${name} lock --config FILE [options]
Try '${name} lock --help'.`,
  docker: `Usage: ${name} docker ps|gc [--json]
Try '${name} docker --help'.`,
});
