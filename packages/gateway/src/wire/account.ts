/** Ceilings on the bytes that are held for peers; every one can be set. */
export interface AccountLimits {
  /** Bytes that may be held for one peer beside one message of the largest size. */
  readonly peerBytes: number;
  /** Bytes that the lists of one server may have. */
  readonly listBytes: number;
  /** Memory that may be taken for all peers together. */
  readonly totalBytes: number;
}

const MIB = 1024 * 1024;

const DEFAULT_ACCOUNT_LIMITS: AccountLimits = {
  // A client that asks faster than it reads for some seconds stays below this.
  peerBytes: 16 * MIB,
  // The largest lists in use have less than 1 MiB.
  listBytes: 32 * MIB,
  // Leaves the process well below the memory that small machines and containers allow.
  totalBytes: 256 * MIB,
};

/**
 * Part of the memory that is counted. The rest are buffers that are not full, objects, and what V8 has not collected yet: up to
 * 90 MB beside 205 MB of answers that were read quickly and never fetched.
 */
const COUNTED = 0.625;

/** Bytes from which on a peer counts as behind. A peer with many requests in flight holds less than that for a moment. */
const BEHIND = 256 * 1024;

/** Answers to a server's own requests may wait up to this multiple of `peerBytes`: calls of clients may be as much as one. */
const ANSWERS_SHARE = 2;

/** The accounts of all peers of one gateway. */
export class Accounts {
  readonly #maxMessageSize: number;
  #limits: AccountLimits = DEFAULT_ACCOUNT_LIMITS;
  #peerCeiling = 0;
  #totalCeiling = 0;
  readonly #open = new Set<Account>();
  readonly #caches: (() => boolean)[] = [];
  #total = 0;
  #fellBehind = 0;

  constructor(maxMessageSize: number, limits?: Partial<AccountLimits>) {
    this.#maxMessageSize = maxMessageSize;
    this.takeLimits(limits);
  }

  /** Sets the ceilings. Peers that hold more are ended with the next byte. */
  takeLimits(limits: Partial<AccountLimits> = {}): void {
    this.#limits = { ...DEFAULT_ACCOUNT_LIMITS, ...limits };
    this.#peerCeiling = this.#maxMessageSize + this.#limits.peerBytes;
    // One peer may always hold what it is allowed to.
    this.#totalCeiling = Math.max(COUNTED * this.#limits.totalBytes, this.#peerCeiling);
  }

  get peerBytes(): number {
    return this.#limits.peerBytes;
  }

  /** Bytes held for all peers. */
  get total(): number {
    return this.#total;
  }

  /** Opens the account of a peer. `exceeded` is called at most once, with a reason that continues "it …". */
  open(exceeded: (reason: string) => void): Account {
    const account = new Account(this, exceeded);
    this.#open.add(account);
    return account;
  }

  /** Adds a cache that gives memory back before a peer is ended. `evict` drops a part of it; returns false where none is left. */
  addCache(evict: () => boolean): void {
    this.#caches.push(evict);
  }

  /** Called by an account whose holdings have changed by `bytes`. */
  changed(account: Account, bytes: number): void {
    this.#total += bytes;
    if (bytes <= 0) return;
    const { listBytes } = this.#limits;
    if (account.held > this.#peerCeiling)
      account.exceed(
        `left more than ${this.#peerCeiling} bytes unread or made Weir hold them in another way; ${remedy('peerBytes')}`,
      );
    else if (account.listed > listBytes)
      account.exceed(`lists more than ${listBytes} bytes; ${remedy('listBytes')}`);
    else if (this.#total > this.#totalCeiling) this.#freeMemory();
  }

  /** Numbers the peers that fall behind, the first of which goes first where all hold too much. */
  fellBehind(): number {
    return ++this.#fellBehind;
  }

  /** Called by an account that is closed: nothing is held for its peer any more. */
  closed(account: Account, bytes: number): void {
    if (this.#open.delete(account)) this.#total -= bytes;
  }

  #freeMemory(): void {
    for (const evict of this.#caches) while (this.#total > this.#totalCeiling && evict());
    if (this.#total <= this.#totalCeiling) return;
    const [account, what] = this.#peerToEnd();
    account?.exceed(
      `${what} when Weir held more than ${this.#totalCeiling} bytes for all clients and servers; ${remedy('totalBytes')}`,
    );
  }

  /**
   * Finds the peer to end: the one that was behind for longest, because many that hold little each must not get rid of one
   * that is just reading much; where lists take most of the memory, the one that holds the most.
   */
  #peerToEnd(): [Account | undefined, string] {
    let first: Account | undefined;
    let largest: Account | undefined;
    let listed = 0;
    for (const account of this.#open) {
      listed += account.listed;
      if (largest === undefined || account.sum > largest.sum) largest = account;
      if (account.behind > 0 && (first === undefined || account.behind < first.behind)) first = account;
    }
    const isFirst = first !== undefined && 2 * listed <= this.#total;
    return isFirst ? [first, 'was behind for longest'] : [largest, 'held the most'];
  }
}

/**
 * Counts the bytes that the gateway holds because of one peer: answers that it has not read, requests that wait for it,
 * what it listed, what is remembered for it. Over a ceiling the peer is ended: a server is restarted, a client is hung up on.
 */
export class Account {
  readonly #accounts: Accounts;
  readonly #exceeded: (reason: string) => void;
  #held = 0;
  #listed = 0;
  #behind = 0;
  #isClosed = false;

  constructor(accounts: Accounts, exceeded: (reason: string) => void) {
    this.#accounts = accounts;
    this.#exceeded = exceeded;
  }

  /** Bytes that may wait for the peer before others can send it no more. */
  get peerBytes(): number {
    return this.#accounts.peerBytes;
  }

  /** Bytes held, lists not included. */
  get held(): number {
    return this.#held;
  }

  /** The number under which the peer fell behind; 0 while it is not. */
  get behind(): number {
    return this.#behind;
  }

  /** Bytes of lists. */
  get listed(): number {
    return this.#listed;
  }

  get sum(): number {
    return this.#held + this.#listed;
  }

  /** Counts bytes that are held from now on. */
  charge(bytes: number): void {
    if (this.#isClosed) return;
    this.#held += bytes;
    if (this.#held < BEHIND) this.#behind = 0;
    else if (this.#behind === 0) this.#behind = this.#accounts.fellBehind();
    this.#accounts.changed(this, bytes);
  }

  /** Counts bytes that are held no longer. */
  release(bytes: number): void {
    this.charge(-bytes);
  }

  /** Ends a peer that goes on asking and leaves the answers unread. `bytes` wait for it beside the largest message. */
  limitAnswers(bytes: number): void {
    const most = ANSWERS_SHARE * this.peerBytes;
    if (bytes > most && !this.#isClosed)
      this.exceed(
        `left more than ${most} bytes unread while it kept sending requests; ${remedy('peerBytes')}`,
      );
  }

  /** Counts bytes of a server's lists; a negative number where they have become shorter. */
  chargeList(bytes: number): void {
    if (this.#isClosed) return;
    this.#listed += bytes;
    this.#accounts.changed(this, bytes);
  }

  /** Ends the peer. Its owner gets the reason after the current turn, because charges are made in the middle of other work. */
  exceed(reason: string): void {
    this.close();
    queueMicrotask(() => this.#exceeded(reason));
  }

  /** The peer is gone, and with it what was held for it: later charges and releases count nothing. */
  close(): void {
    this.#isClosed = true;
    this.#accounts.closed(this, this.sum);
    this.#held = 0;
    this.#listed = 0;
  }
}

/** One place where an amount is held that changes: a queue, a buffer, a cache. */
export class Holding {
  readonly #account: Account;
  #bytes = 0;

  constructor(account: Account) {
    this.#account = account;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the amount that is held here now. */
  set bytes(bytes: number) {
    if (bytes === this.#bytes) return;
    this.#account.charge(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** The account of peers inside the process, which hold nothing. */
export const NO_ACCOUNT: Account = new Accounts(0, {
  peerBytes: Infinity,
  listBytes: Infinity,
  totalBytes: Infinity,
}).open(() => {});

function remedy(limit: keyof AccountLimits): string {
  return `to allow more, raise "${limit}" under "limits" in the config`;
}
