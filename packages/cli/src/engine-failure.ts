/** The container engine could not do what the command wanted; the message is complete. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure';
}
