import { type FileAnswer, jsonAnswer, refusal } from './file-answer.ts';
import { signFileLink } from './file-links.ts';
import type { FileInfo, FileServingConfig } from './file-serving-config.ts';
import type { Asker, Grant } from './file-serving.ts';
import { linkBase } from './route-prefix.ts';
import type { StoredFile } from './stored-file.ts';
import { newestFirst, type StoredFiles } from './stored-files.ts';

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;

interface ListSources {
  readonly config: FileServingConfig;
  readonly files: StoredFiles;
  readonly grant: Grant;
  readonly now: () => number;
}

/** Answers with a page of the files that the asker may read: a file is listed exactly where it would be served. */
export async function answerList(
  sources: ListSources,
  asker: Asker,
  query: URLSearchParams,
): Promise<FileAnswer> {
  const pageSize = parsePageSize(query.get('pageSize'));
  const after = parsePageToken(query.get('pageToken'));
  if (pageSize === undefined)
    return refusal(400, 'INVALID_REQUEST', `pageSize must be a number from 1 to ${MAX_PAGE_SIZE}`);
  if (after === 'invalid')
    return refusal(400, 'INVALID_REQUEST', 'pageToken must be the nextPageToken of an earlier page');

  const items: FileInfo[] = [];
  for (const info of await candidates(sources, asker)) {
    if (after !== undefined && newestFirst(after, info) >= 0) continue;
    if ((await sources.grant(info.id, asker)) === undefined) continue;
    if (items.length === pageSize) return jsonAnswer({ items, nextPageToken: pageToken(items.at(-1)) });
    items.push(info);
  }
  return jsonAnswer({ items });
}

async function candidates({ config, files, now }: ListSources, asker: Asker): Promise<FileInfo[]> {
  if (config.getAllFiles !== undefined)
    return (await config.getAllFiles(asker.principal)).toSorted(newestFirst);
  if (!asker.isKnown) return [];
  return (await files.list(asker.principal)).map((file) => infoOf(file, config, now));
}

function infoOf(file: StoredFile, config: FileServingConfig, now: () => number): FileInfo {
  const { id, filename, size, contentType, createdAt, expiresAt, owner } = file;
  const { routePrefix, linkKeys = [] } = config;
  const uri =
    linkKeys.length > 0
      ? signFileLink(id, { keys: linkKeys, routePrefix, owner, now })
      : `${linkBase(routePrefix)}/${id}`;
  return {
    id,
    name: filename,
    size,
    contentType,
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    uri,
  };
}

function parsePageSize(text: string | null): number | undefined {
  if (text === null) return PAGE_SIZE;
  const size = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  return size >= 1 && size <= MAX_PAGE_SIZE ? size : undefined;
}

interface PagePlace {
  readonly createdAt: string;
  readonly id: string;
}

/** Makes a token of the last file's place, which stays right where files come and go between two pages. */
function pageToken(last: PagePlace | undefined): string {
  return Buffer.from(`${last?.createdAt}\n${last?.id}`).toString('base64url');
}

function parsePageToken(text: string | null): PagePlace | 'invalid' | undefined {
  if (text === null) return undefined;
  const [createdAt = '', id, more] = Buffer.from(text, 'base64url').toString().split('\n');
  return id === undefined || more !== undefined ? 'invalid' : { createdAt, id };
}
