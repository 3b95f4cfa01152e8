// @ts-check

/** Variables by which Claude Code and what is built on it sends nothing but requests to the model. */
export const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  // All tools stand in the request, as they do in hosts that have no search for tools.
  ENABLE_TOOL_SEARCH: 'false',
};
