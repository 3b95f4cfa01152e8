export { createFileFetchHandler } from './files/file-fetch.ts';
export {
  type FileLinkKey,
  type FileLinkOptions,
  generateFileLinkKey,
  signFileLink,
} from './files/file-links.ts';
export {
  type FileResourceModule,
  type FileResourceOptions,
  fileResources,
  resourceLink,
} from './files/file-resources.ts';
export { createFileServingRouter, type FileRouter, type FileRouterRequest } from './files/file-router.ts';
export type {
  FileInfo,
  FileMetadata,
  FileRequest,
  FileServingConfig,
  FileServingLimits,
} from './files/file-serving-config.ts';
export {
  createResourceStore,
  type FileContent,
  FileQuotaError,
  type PutFileOptions,
  type ResourceStore,
  type ResourceStoreOptions,
  type ResourceStoreQuota,
} from './files/resource-store.ts';
export type { StoredFile } from './files/stored-file.ts';
