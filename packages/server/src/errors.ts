export type { ErrorCode } from './errors/codes.ts';
export { toErrorBranch, type ErrorBranch } from './errors/error-branch.ts';
export { createHttpError, type HttpError } from './errors/http-error.ts';
export { handleToolError, type ToolFailure } from './errors/tool-error.ts';
