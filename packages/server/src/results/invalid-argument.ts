/** Creates an error about an argument of the model. `handleToolError` finds the code. */
export function invalidArgument(message: string): Error & { readonly code: 'INVALID_REQUEST' } {
  return Object.assign(new Error(message), { code: 'INVALID_REQUEST' as const });
}
