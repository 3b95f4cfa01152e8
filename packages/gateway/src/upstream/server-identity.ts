import type { ServerConfig } from '../config/config.generated.ts';

/** What a server is known by, whatever it is called in the config. */
export interface Identity {
  readonly command: string;
  readonly args: readonly string[];
}

/** What is started, or where it is. */
export function identityOf(config: ServerConfig): Identity {
  const { command, url, sseConfig, image, args = [], dockerConfig } = config;
  const inside = dockerConfig?.image ?? image;
  if (inside !== undefined) return { command: 'image', args: [inside, ...(dockerConfig?.command ?? args)] };
  return command === undefined ? { command: 'url', args: [url ?? sseConfig?.url ?? ''] } : { command, args };
}
