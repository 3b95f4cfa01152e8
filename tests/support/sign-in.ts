import { inspect } from 'node:util';
import {
  type AuthAdapter,
  type AuthPrompt,
  createOAuthAdapters,
  type OAuthFactoryConfig,
} from '@weir/server/oauth';
import { type BrowserPage, createHeadlessBrowser } from './headless-browser.ts';

export interface SignIn {
  readonly loopback: AuthAdapter;
  /** Token store of the adapter, unless the test passed another one. */
  readonly store: Map<string, unknown>;
  /** Lines that the adapter logged, details included. */
  readonly log: string[];
  readonly prompts: AuthPrompt[];
  /** Last pages that the browser saw. */
  readonly pages: BrowserPage[];
  readonly clock: TestClock;
}

interface TestClock {
  /** Milliseconds that the clock is ahead of that of the machine. */
  aheadMs: number;
}

/** Creates an adapter at an issuer for tests, with a browser that signs in at once. */
export async function createSignIn(
  { issuer }: { issuer: string },
  overrides: Partial<OAuthFactoryConfig> = {},
): Promise<SignIn> {
  const store = new Map<string, unknown>();
  const clock: TestClock = { aheadMs: 0 };
  const log: string[] = [];
  const prompts: AuthPrompt[] = [];
  const pages: BrowserPage[] = [];
  const write = (...texts: unknown[]): void => void log.push(inspect(texts, { depth: 20 }));
  const { loopback } = await createOAuthAdapters({
    provider: 'oidc',
    issuer,
    service: 'mail',
    clientId: 'native',
    scope: 'openid email offline_access mail.read',
    headless: false,
    tokenStore: store,
    logger: { debug: write, info: write, warn: write, error: write },
    onAuthUrl: (prompt) => void prompts.push(prompt),
    openBrowser: async (url) => void pages.push(await createHeadlessBrowser().visit(url)),
    now: () => Date.now() + clock.aheadMs,
    ...(overrides.redirectUri === undefined && { callbackPath: '/callback' }),
    ...overrides,
  });
  return { loopback, store, log, prompts, pages, clock };
}
