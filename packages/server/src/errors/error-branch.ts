/** The error branch of a structured result. */
export interface ErrorBranch {
  type: 'error';
  message: string;
  code?: string;
}

export function toErrorBranch(error: unknown, customHandler?: (error: Error) => ErrorBranch): ErrorBranch {
  const known = error instanceof Error ? error : new Error(String(error));
  return customHandler === undefined ? { type: 'error', message: known.message } : customHandler(known);
}
