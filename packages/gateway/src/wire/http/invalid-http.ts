/** A message that breaks the rules of HTTP. The text ends a sentence that begins with the message. */
export class InvalidHttp extends Error {
  override readonly name = 'InvalidHttp';
}
