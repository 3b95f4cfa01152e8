export {
  buildAuthResponse,
  requestAuth,
  type AuthContext,
  type AuthRequest,
  type AuthResult,
} from './results/auth-response.ts';
export {
  authRequired,
  errorBranch,
  resultOf,
  type AuthRequiredSchema,
  type ErrorBranchSchema,
} from './results/branches.ts';
export { fieldsInput, inShape, pickFields, toColumns, type InShape, type Table } from './results/fields.ts';
export { fillContent, type ToolResultDraft } from './results/fill-content.ts';
export {
  pageInput,
  paginate,
  readPageToken,
  writePageToken,
  type Page,
  type PageArguments,
} from './results/pages.ts';
export {
  error,
  success,
  type ErrorResult,
  type ResultOptions,
  type SuccessResult,
} from './results/tool-results.ts';
export {
  columns,
  isEmpty,
  item,
  items,
  nextPageToken,
  range,
  rows,
  select,
  shape,
  shapeInput,
  values,
} from './results/vocabulary.ts';
