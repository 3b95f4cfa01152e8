export const HELP = `Many MCP servers as one, on stdio.

Usage: weir --config FILE [options]

  --config FILE            the config file of your MCP host: { "mcpServers": { … } }
  --separator TEXT         between server and tool name (default ":"; "__" suits every host)
  --no-prefix              bare tool names; an error where two servers share one
  --keep-going             start with the servers that do start
  --startup-timeout TIME   how long a server may take (default 5s, 60s for npx and its like)
  --max-message-size SIZE  the largest message that passes (default 64M)
  --name NAME              the name told to clients (default mcp-simple-aggregator)
  --version VERSION        the version told to clients (default 1.0.0)
  --state DIR              where things are remembered (default: $WEIR_STATE or the user's state folder)
  --debug                  log names, start times and every call's duration
  --log-file FILE          log there instead of to stderr
  --version, --help        print the version of weir, or this text

Examples:
  weir --config claude_desktop_config.json
  weir --config mcp.json --separator __ --keep-going
  weir --config mcp.json --no-prefix --debug --log-file weir.log

Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.
`;
