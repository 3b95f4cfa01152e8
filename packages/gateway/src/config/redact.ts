import type { McpConfig, ServerConfig } from './config.generated.ts';

/** Shorter values are words rather than secrets, and would leave holes in every sentence. */
const SHORTEST_SECRET = 6;
const LONGEST_TEXT = 500;
const HIDDEN = '[hidden]';

const AUTHORIZATION = /\b(bearer|basic)\s+[^\s"',;]+/giu;
const ASSIGNMENT =
  /\b((?:api|access|auth)?[-_]?(?:key|token|secret|password))(["']?\s*[=:]\s*["']?)[^\s"'&,;]+/giu;
const USER_INFO = /\/\/[^\s/@]+@/gu;

/** Takes out of a text the values that a config gives its servers, and what looks like a secret; cuts what is long. */
export function redactor(config: () => McpConfig): (text: string) => string {
  return (text) => {
    // Read anew each time: errors are rare, and the config may have been replaced.
    const secrets = Object.values(config().mcpServers).flatMap(secretsOf);
    const known = secrets
      .toSorted((one, other) => other.length - one.length)
      .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    return shortened(
      known
        .replace(AUTHORIZATION, `$1 ${HIDDEN}`)
        .replace(ASSIGNMENT, `$1$2${HIDDEN}`)
        .replace(USER_INFO, `//${HIDDEN}@`),
    );
  };
}

function secretsOf({ env = {}, headers = {} }: ServerConfig): string[] {
  const words = Object.values(headers).flatMap((value) => [value, value.replace(/^.*\s/u, '')]);
  return [...Object.values(env), ...words].filter(({ length }) => length >= SHORTEST_SECRET);
}

function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} …`;
}
