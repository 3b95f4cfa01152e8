import type { Upstream } from '../../upstream/upstream.ts';
import type { Account } from '../../wire/account.ts';
import { LegacySubscriptions } from './legacy-subscriptions.ts';
import { ListenRequests } from './listen-requests.ts';

/** All that one client follows: by `subscriptions/listen` in the modern era, by `resources/subscribe` in the legacy one. */
export class Subscriptions {
  readonly listen: ListenRequests;
  readonly legacy: LegacySubscriptions;

  /** `account` is that of a legacy client; `failed` logs an exception. */
  constructor(account: Account, failed: (error: Error) => void) {
    this.listen = new ListenRequests(failed);
    this.legacy = new LegacySubscriptions(account);
  }

  /** Returns true where the client follows a resource or task of this server. */
  follows({ serverKey }: Pick<Upstream, 'serverKey'>): boolean {
    return this.listen.follows(serverKey) || this.legacy.follows(serverKey);
  }

  /** Asks a restarted server for what its last start was asked to tell. */
  renew(upstream: Upstream): void {
    this.listen.renew(upstream);
    this.legacy.renew(upstream);
  }

  close(): void {
    this.listen.close();
    this.legacy.close();
  }
}
