import type { ForeignHeader } from '../access/host-and-origin.ts';
import { parseRange } from './byte-range.ts';
import { canBeShown, contentTypeOf } from './content-types.ts';
import { contentDisposition } from './download-name.ts';
import { bareAnswer, type FileAnswer, type FileBody, fileBody, notFound, refusal } from './file-answer.ts';
import { isFileId } from './file-id.ts';
import { checkLinkKeys, verifyFileLink } from './file-links.ts';
import { answerList } from './file-list.ts';
import {
  checkAllowInline,
  checkLimits,
  type FileMetadata,
  type FileRequest,
  type FileServingConfig,
  type FileServingLimits,
} from './file-serving-config.ts';
import { type ConnectionEnd, createHostCheck } from './host-check.ts';
import { checkPreconditions, rangeHolds, type Validators } from './preconditions.ts';
import { pathBelow, prefixPath } from './route-prefix.ts';
import { openStoreRoot, type OpenedFile } from './store-root.ts';
import { isPast, type StoredFile } from './stored-file.ts';
import { createStoredFiles, type StoredFiles } from './stored-files.ts';

/** Decides each answer; the router and the fetch handler only send it. */
export interface FileServing {
  /** The path that all requests for files begin with. */
  readonly prefix: string;
  /** Returns the part of a path below the route prefix; undefined for a path that belongs to others. */
  below(path: string): string | undefined;
  /** Answers a request for the path below the prefix: '' for the list, else a file id. */
  answer(request: ServedRequest, below: string, search: string): Promise<FileAnswer>;
  readonly limits: FileServingLimits;
}

export interface ServedRequest extends FileRequest {
  readonly end: ConnectionEnd;
}

/** A user, or a link that reads in a user's name. */
export interface Asker {
  /** False for a stranger, to whom nothing of the store belongs. */
  readonly isKnown: boolean;
  readonly principal: string | undefined;
}

/** A file that the asker may read. */
interface GrantedFile {
  readonly metadata: FileMetadata;
  /** The record in the store, unless the program put the bytes there by itself. */
  readonly record: StoredFile | undefined;
}

export type Grant = (id: string, asker: Asker) => Promise<GrantedFile | undefined>;

export function createFileServing(config: FileServingConfig): FileServing {
  const { now = Date.now, linkKeys = [], logger } = config;
  const limits = checkLimits(config.limits);
  const allowInline = checkAllowInline(config.allowInline);
  const prefix = prefixPath(config.routePrefix);
  const files = createStoredFiles(openStoreRoot(config.resourceStoreUri, 'resourceStoreUri'), now);
  checkLinkKeys(linkKeys);
  const grant = createGrant(config, files, now);
  const checkHost = createHostCheck(config);
  let active = 0;

  const decide = async (request: FileRequest, below: string, search: string): Promise<FileAnswer> => {
    const query = new URLSearchParams(search);
    const principal = (await config.principal?.(request)) || undefined;
    const user: Asker = { isKnown: principal !== undefined, principal };
    if (below === '') return answerList({ config, files, grant, now }, user, query);
    if (!isFileId(below)) return notFound();

    const link = verifyFileLink(below, query, { keys: linkKeys, now: now() });
    const asker = link === undefined ? user : askerOf(link, principal);
    const granted = asker && (await grant(below, asker));
    if (granted === undefined) return notFound();
    const opened = await files.open(below, granted.record?.size ?? granted.metadata.size);
    if (opened === undefined) return notFound();
    try {
      return await answerFile(request, granted, opened, allowInline);
    } catch (error) {
      await opened.handle.close();
      throw error;
    }
  };

  /** Answers in turn for no more than the limit, so that slow clients cannot use up descriptors. */
  const answer = async (request: ServedRequest, below: string, search: string): Promise<FileAnswer> => {
    const foreign = checkHost(request.header, request.end);
    if (foreign !== undefined) return refusedHost(foreign);
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed();
    if (active >= limits.maxDownloads) return busy();
    active++;
    const release = (): void => void active--;
    try {
      const decided = await decide(request, below, search);
      if (typeof decided.body === 'object') return { ...decided, body: releasing(decided.body, release) };
      release();
      return request.method === 'HEAD' ? { ...decided, body: undefined } : decided;
    } catch (error) {
      release();
      logger?.error(`A request for a file failed: ${String(error)}`, error);
      return refusal(500, 'INTERNAL_ERROR', 'Internal error');
    }
  };

  return { answer, limits, prefix, below: (path) => pathBelow(prefix, path) };
}

/** Returns the user in whose name a link reads. Undefined for a wrong link, and one that another user made public. */
function askerOf(link: { isValid: boolean; sub?: string }, principal: string | undefined): Asker | undefined {
  if (!link.isValid || (principal !== undefined && principal !== link.sub)) return undefined;
  return { isKnown: true, principal: link.sub };
}

function createGrant(config: FileServingConfig, files: StoredFiles, now: () => number): Grant {
  const { getMetadata } = config;
  return async (id, { isKnown, principal }) => {
    if (getMetadata === undefined) {
      // The store is not even asked for a stranger, so an id that exists takes no longer than another.
      const record = isKnown ? await files.get(id, principal) : undefined;
      return record && { metadata: record, record };
    }
    const metadata = await getMetadata(id, principal);
    if (metadata === null || metadata === undefined) return undefined;
    if (metadata.owner !== undefined && metadata.owner !== principal) return undefined;
    if (isPast(metadata.expiresAt, now())) return undefined;
    return { metadata, record: await files.get(id, metadata.owner ?? principal) };
  };
}

/** Answers with the file, a part of it, or nothing but headers, and leaves the file open only for the former two. */
async function answerFile(
  request: FileRequest,
  { metadata, record }: GrantedFile,
  opened: OpenedFile,
  allowInline: boolean,
): Promise<FileAnswer> {
  const { header } = request;
  const validators = validatorsOf(record, opened);
  const { size } = opened;
  const shared = {
    etag: validators.etag,
    'last-modified': validators.lastModified,
    'accept-ranges': 'bytes',
  };
  const isGet = request.method === 'GET';

  const condition = checkPreconditions(header, validators);
  const range = isGet && rangeHolds(header, validators) ? parseRange(header('range'), size) : undefined;
  if (condition !== 'proceed' || range === 'unsatisfiable' || !isGet) await opened.handle.close();
  if (condition === 304) return bareAnswer(304, shared);
  if (condition === 412) return refusal(412, 'PRECONDITION_FAILED', 'The file has changed', shared);
  if (range === 'unsatisfiable')
    return refusal(416, 'RANGE_NOT_SATISFIABLE', 'The file has no such bytes', {
      ...shared,
      'content-range': `bytes */${size}`,
    });

  const { first, last } = range ?? { first: 0, last: size - 1 };
  const length = last - first + 1;
  const headers = {
    ...shared,
    ...typeHeaders(metadata, allowInline),
    'content-length': String(length),
    ...(range !== undefined && { 'content-range': `bytes ${first}-${last}/${size}` }),
  };
  const body = isGet ? fileBody(opened, first, length) : undefined;
  return { ...bareAnswer(range === undefined ? 200 : 206, headers), body };
}

function typeHeaders({ filename, contentType }: FileMetadata, allowInline: boolean): Record<string, string> {
  const type = contentTypeOf(filename, contentType);
  const disposition = allowInline && canBeShown(type) ? 'inline' : 'attachment';
  return { 'content-type': type, 'content-disposition': contentDisposition(disposition, filename) };
}

/** Takes the hash of the record. Without one, size and time are only a hint, which is never enough to join two parts. */
function validatorsOf(record: StoredFile | undefined, { size, modifiedMs }: OpenedFile): Validators {
  const isRecorded = record?.size === size;
  return {
    etag: isRecorded
      ? `"${record.sha256}"`
      : `W/"${size.toString(36)}-${Math.trunc(modifiedMs).toString(36)}"`,
    lastModified: new Date(isRecorded ? record.createdAt : modifiedMs).toUTCString(),
  };
}

function releasing(body: FileBody, release: () => void): FileBody {
  let isReleased = false;
  const close = async (): Promise<void> => {
    if (!isReleased) release();
    isReleased = true;
    await body.close();
  };
  return { ...body, close };
}

function refusedHost({ header, value = '' }: ForeignHeader): FileAnswer {
  const remedy = header === 'Host' ? ': name it in allowedHosts' : '';
  return refusal(403, 'FORBIDDEN', `Requests with the ${header} "${value}" are not served${remedy}`);
}

function methodNotAllowed(): FileAnswer {
  return refusal(405, 'METHOD_NOT_ALLOWED', 'Only GET and HEAD are allowed', { allow: 'GET, HEAD' });
}

function busy(): FileAnswer {
  return refusal(503, 'BUSY', 'Too many downloads at the same time', { 'retry-after': '5' });
}
