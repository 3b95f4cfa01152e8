import type { Logger } from '../logger.ts';
import type { FileLinkKey } from './file-links.ts';

/** Options of the two ways to serve files, the router and the fetch handler. */
export interface FileServingConfig {
  /** Path of the router, such as `/exports`; links begin with it. With an http(s) URL, links are absolute. */
  readonly routePrefix: string;
  /** Folder of the files, a `file:` URI. The bytes of the file `abc123` are in `abc123` there. */
  readonly resourceStoreUri: string;
  /**
   * Decides who may read a file: null refuses. Metadata with an `owner` is refused to every other user.
   * Without this function, only files of `createResourceStore` are served, to their owners.
   */
  readonly getMetadata?: (fileId: string, principal?: string) => Promise<FileMetadata | null>;
  /** Lists files, of which a user sees those that `getMetadata` grants. Without it, the user's files of the store. */
  readonly getAllFiles?: (principal?: string) => Promise<FileInfo[]>;
  /** Names the user who asks; undefined is a stranger. Without it, only signed links grant access to the store's files. */
  readonly principal?: (request: FileRequest) => string | undefined | Promise<string | undefined>;
  /** Keys of signed links: the first signs, all are accepted. Lists have signed links where there is a key. */
  readonly linkKeys?: readonly FileLinkKey[];
  /** Lets browsers show PDF, plain text and bitmap images; false unless set. All other types stay downloads. */
  readonly allowInline?: boolean;
  /** Values of the Host header beside the addresses of this machine and the host of `routePrefix`. */
  readonly allowedHosts?: readonly string[];
  readonly limits?: Partial<FileServingLimits>;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
}

export interface FileServingLimits {
  /** Requests that are answered at the same time, each with one open file; 256 unless set. More get 503. */
  readonly maxDownloads: number;
  /** Milliseconds in which a client takes the next 128 KiB, 30 s unless set; then its download is aborted. */
  readonly stallMs: number;
}

const DEFAULT_LIMITS: FileServingLimits = { maxDownloads: 256, stallMs: 30_000 };

/** Longest time that timers of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Fills in the limits that are not set; throws for those that would limit nothing. */
export function checkLimits(limits: Partial<FileServingLimits> = {}): FileServingLimits {
  const { maxDownloads, stallMs } = { ...DEFAULT_LIMITS, ...limits };
  if (!(maxDownloads >= 1)) throw new Error(`limits.maxDownloads ${maxDownloads} must be a number from 1`);
  if (!(stallMs >= 1 && stallMs <= MAX_TIMER_MS))
    throw new Error(`limits.stallMs ${stallMs} must be a number of milliseconds from 1 to ${MAX_TIMER_MS}`);
  return { maxDownloads, stallMs };
}

/** Throws for a list of types and the like, which would show nothing, or more than its author meant. */
export function checkAllowInline(allowInline: unknown = false): boolean {
  if (typeof allowInline === 'boolean') return allowInline;
  throw new TypeError(
    'allowInline must be true or false: true shows PDF, plain text and bitmap images, and no list of types can be given',
  );
}

/** The facts of a file that its own program keeps. */
export interface FileMetadata {
  /** The name for downloads. Every text is safe here. */
  readonly filename: string;
  /** Taken from the name's extension unless set. */
  readonly contentType?: string;
  /** Bytes. A file of another size is not served. */
  readonly size?: number;
  /** The only user who may read the file. */
  readonly owner?: string;
  /** ISO 8601. From then on, the file is not served. */
  readonly expiresAt?: string;
}

/** A file in the list. */
export interface FileInfo {
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly uri: string;
}

/** A request for a file, as `principal` sees it. */
export interface FileRequest {
  readonly method: string;
  /** Returns a header; several of one name are joined by commas. */
  readonly header: (name: string) => string | undefined;
  /** The request of the framework: `req` of node:http and Express, or the `Request` of a fetch handler. */
  readonly incoming: unknown;
}
