/** The lock file could not be written; the message is complete. */
export class LockFailure extends Error {
  override readonly name = 'LockFailure';
}
