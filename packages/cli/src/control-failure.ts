/** What was asked of a running gateway could not be done; the message says why and what to do. */
export class ControlFailure extends Error {
  override readonly name = 'ControlFailure';
}
