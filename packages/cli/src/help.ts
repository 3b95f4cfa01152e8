/** One screen: 24 lines of 80 columns, the prompt beneath included. */
export const HELP = `One MCP server made of many, on stdio.

Usage: weir --config FILE [options]

  --config FILE            the file your MCP host has, with its "mcpServers"
  --separator TEXT         joins server and tool (default ":"; hosts like "__")
  --no-prefix              plain tool names; no two servers may share one
  --keep-going             go on with the servers that start
  --startup-timeout TIME   for a server to start (default 5s; npx etc. 60s)
  --max-message-size SIZE  the largest message that passes (default 64M)
  --name NAME              told to clients (default mcp-simple-aggregator)
  --version VERSION        told to clients (default 1.0.0)
  --state DIR              memory (default $WEIR_STATE, or your state folder)
  --debug                  log the separator, start times and the time of calls
  --log-file FILE          log there instead of to stderr
  --version, --help        print the version of weir, or this text

Examples:
  weir --config claude_desktop_config.json --separator __
  weir --config mcp.json --keep-going --startup-timeout 30s
  weir --config mcp.json --no-prefix --debug --log-file weir.log

Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.
`;

/** What stands under a command line that cannot be understood: the mistake must not scroll away. */
export const USAGE = `Usage: weir --config FILE [options]
Try 'weir --help' for the options and some examples.`;
