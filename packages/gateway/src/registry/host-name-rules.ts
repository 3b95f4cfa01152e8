import { quoted } from '../errors.ts';
import { isHostSafe } from './names.ts';

/** By their documentation and error texts; one such name makes them refuse the whole list. */
const REFUSING = 'Claude Desktop, the Anthropic and OpenAI APIs and Cursor';

/**
 * Names in `clientInfo` of hosts that were seen to list such tools and to call them. Gemini CLI 0.61 passes the names on;
 * Claude Code 2.1.197 and 2.1.325, Codex 0.166, Copilot CLI 1.0.102, opencode 1.18.33, Cline 3.0.65 and Continue 1.5.47
 * rename them for their model.
 */
const COPING: ReadonlySet<string> = new Set([
  'claude-code',
  'codex-mcp-client',
  'gemini-cli-mcp-client',
  'copilot-cli',
  'opencode',
  '@cline/core',
  'continue-cli-client',
]);

export function copesWithNames(clientName: string | undefined): boolean {
  return clientName !== undefined && COPING.has(clientName);
}

/** Returns those of these public names that some hosts refuse. A host-safe separator leaves none. */
export function refusedNames(names: Iterable<string>): string[] {
  return [...names].filter((name) => !isHostSafe(name));
}

/** Says which hosts refuse these of so many names, and what to pass instead. */
export function nameWarning(
  refused: readonly string[],
  { total, noPrefix }: { total: number; noPrefix: boolean },
): string {
  const first = quoted(refused[0] ?? '');
  const what = refused.length === 1 ? `the tool name '${first}'` : `${refused.length} of ${total} tool names`;
  const example = refused.length === 1 ? '' : `, such as '${first}'`;
  const instead = noPrefix ? ' instead of --no-prefix' : '';
  return `${REFUSING} refuse ${what}${example}. Start with --separator __${instead} for names that they accept.`;
}
