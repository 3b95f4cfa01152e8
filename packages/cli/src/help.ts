/** One screen: 24 lines of 80 columns, the prompt beneath included. */
export const HELP = `One MCP server made of many, on stdio.

Usage: weir --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --separator TEXT         joins server and tool (default ":"; hosts like "__")
  --no-prefix              plain tool names; no two servers may share one
  --keep-going             go on with the servers that start
  --lazy                   start servers at their first call (see weir lock)
  --startup-timeout TIME   for a server to start (default 5s; npx etc. 60s)
  --max-message-size SIZE  the largest message that passes (default 64M)
  --name NAME              told to clients (default mcp-simple-aggregator)
  --version VERSION        told to clients (default 1.0.0)
  --state DIR              memory (default $WEIR_STATE, or your state folder)
  --history-arguments      keep what calls are given, for weir history
  --debug                  log the separator, start times and the time of calls
  --log-file FILE          log there instead of to stderr
  --version, --help        print the version of weir, or this text
Examples (see also --help of weir serve, weir docker, weir lock and weir ps):
  weir --config claude_desktop_config.json --separator __
  weir --config mcp.json --keep-going --startup-timeout 30s --log-file weir.log
  weir serve --config mcp.json
Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.
`;

/** The same for the front on HTTP. */
export const SERVE_HELP = `One MCP server made of many, on HTTP: Streamable HTTP at /mcp, for any number
of clients, of all revisions of the protocol. Also /healthz and /readyz.

Usage: weir serve --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --demo                   a few small servers instead, to try it out
  --host ADDRESS           where to listen (default 127.0.0.1: this machine)
  --port NUMBER            (default 8808; 0 takes any that is free)
  --allowed-host HOST      a further name (with its port) that clients may use
  --no-auth                ask for no token; on this machine alone

The token is made at the first start, kept in the state folder, and printed. It
goes with every request: "Authorization: Bearer TOKEN". Servers that fail to
start are left out. Ctrl-C answers what is under way, then ends.
The other options are those of weir: see weir --help.

Examples:
  weir serve --demo
  weir serve --config mcp.json --port 9000 --separator __
  weir serve --config mcp.json --host 0.0.0.0 --allowed-host tools.lan:8808
`;

/** The same for the lock file. */
export const LOCK_HELP = `Starts every server once and writes down what it offers, in weir.lock.json
beside the config: fit to be committed, and the same for the same servers.

Usage: weir lock --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --startup-timeout TIME   for a server to start (default 5s; npx etc. 60s)

With it, or after a first start that has learnt the same, --lazy (or "lazy":
true in an entry) answers lists without starting anything. A server is started
at its first call, and ended when nobody has used it for ten minutes. One that
turns out to offer something else is listed as it is from then on.

Example:
  weir lock --config mcp.json && weir --config mcp.json --lazy

Exit codes: 0 written, 1 failed and nothing was written, 2 wrong usage.
`;

/** What stands under a command line that cannot be understood: the mistake must not scroll away. */
export const USAGE = `Usage: weir --config FILE [options]
Try 'weir --help' for the options and some examples.`;

/** The same for the front on HTTP. */
export const SERVE_USAGE = `Usage: weir serve --config FILE [options]
Try 'weir serve --help' for the options and some examples.`;

/** The same for the lock file. */
export const LOCK_USAGE = `Usage: weir lock --config FILE [options]
Try 'weir lock --help'.`;

/** The same for what is known of containers. */
export const DOCKER_HELP = `The containers that gateways have started for servers with an "image".

Usage: weir docker ps|gc [--json]

  ps        lists them: name, server, image, status and gateway
  gc        removes those whose gateway is gone, and no others
  --json    prints what a program can read

Every gateway with such servers does the same as gc when it starts and once a
minute. A container whose gateway runs on another machine, or in another
container, is "elsewhere": nothing here can tell whether that one still lives.

The engine is the one that the docker command uses (DOCKER_HOST, contexts).
Exit codes: 0 done, 1 failed, 2 wrong usage.
`;

export const DOCKER_USAGE = `Usage: weir docker ps|gc [--json]
Try 'weir docker --help'.`;
