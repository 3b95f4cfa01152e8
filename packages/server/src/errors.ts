export { createHttpError, type HttpError } from './errors/http-error.ts';
export { toErrorBranch, type ErrorBranch } from './errors/error-branch.ts';
export { handleToolError } from './errors/tool-error.ts';
