/** The address cannot be listened on; the message says why and what to do. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}
