/** User of an issuer whom an account belongs to. Outlives the token: a later sign-in is compared with it. */
export interface AccountSubject {
  readonly issuer: string;
  readonly subject: string;
  /** Verified email, which tells the issuer at the next sign-in who is asked for. */
  readonly email?: string;
}

/** Tells the same user. Emails do not count: an issuer may give one to another user later. */
export function isSameSubject(one: AccountSubject, other: AccountSubject | undefined): boolean {
  return one.issuer === other?.issuer && one.subject === other.subject;
}

/** Reads a record of a store, which another program may have written; undefined for one of another shape. */
export function asAccountSubject(value: unknown): AccountSubject | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { issuer, subject, email } = value as Record<string, unknown>;
  if (typeof issuer !== 'string' || typeof subject !== 'string') return undefined;
  return { issuer, subject, ...(typeof email === 'string' && { email }) };
}
