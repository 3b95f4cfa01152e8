export type { AccessCheck, AccessOptions, AccessRequest, ForeignHeader } from './access/host-and-origin.ts';
export { createAccessCheck } from './access/host-and-origin.ts';
export { bracketed, isLoopback, isWildcard, urlOf } from './access/addresses.ts';
