import type {
  ReadResourceResult,
  ResourceLink,
  ServerContext,
  Variables,
} from '@modelcontextprotocol/server';
import { isText } from './content-types.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoredFile } from './stored-file.ts';

export interface FileResourceOptions {
  readonly name?: string;
  readonly description?: string;
  /** The user whose files are read; without it, files without an owner, as servers on stdio have one user only. */
  readonly owner?: string | ((context: ServerContext) => string | undefined);
  /** Most bytes of a file that are read as a resource, 10 MiB unless set: a resource is one message, not a stream. */
  readonly maxBytes?: number;
}

/** Files as a module for `registerResources`. */
interface FileResourceModule {
  readonly name: string;
  readonly description: string;
  readonly template: string;
  handler(uri: URL, variables: Variables, context: ServerContext): Promise<ReadResourceResult>;
}

const URI_START = 'weir-file:///';

/** As much as a message over stdio may have in most clients, once it is base64. */
const MAX_RESOURCE_BYTES = 10 * 1024 ** 2;

/** Offers the files of a store as resources, so that clients on stdio read them without HTTP. */
export function fileResources(store: ResourceStore, options: FileResourceOptions = {}): FileResourceModule {
  const { maxBytes = MAX_RESOURCE_BYTES, owner } = options;
  const handler = async (
    uri: URL,
    variables: Variables,
    context: ServerContext,
  ): Promise<ReadResourceResult> => {
    const id = String(variables['id']);
    const user = typeof owner === 'function' ? owner(context) : owner;
    const known = await store.get(id, user);
    if (known !== undefined && known.size > maxBytes)
      throw new Error(
        `The file "${known.filename}" has more than ${maxBytes} bytes: download it by a link instead`,
      );
    const found = await store.read(id, user);
    if (found === undefined) throw await notFoundError(uri);
    return { contents: [contentsOf(uri, found)] };
  };
  return {
    name: options.name ?? 'files',
    description: options.description ?? 'Files that the tools of this server have made',
    template: `${URI_START}{id}`,
    handler,
  };
}

/** Makes the block of a tool's result that points to a file: by its resource, or by a link where `uri` gives one. */
export function resourceLink(
  file: StoredFile,
  { uri = `${URI_START}${file.id}` }: { uri?: string } = {},
): ResourceLink {
  const { filename, contentType, size } = file;
  return { type: 'resource_link', uri, name: filename, mimeType: contentType, size };
}

function contentsOf(
  { href }: URL,
  { file, bytes }: { file: StoredFile; bytes: Uint8Array },
): ReadResourceResult['contents'][number] {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const shared = { uri: href, mimeType: file.contentType };
  return isText(file.contentType)
    ? { ...shared, text: content.toString() }
    : { ...shared, blob: content.toString('base64') };
}

/** Loads the SDK's error where it is needed: programs that only serve files do not load the SDK. */
async function notFoundError(uri: URL): Promise<Error> {
  const { ResourceNotFoundError } = await import('@modelcontextprotocol/server');
  return new ResourceNotFoundError(uri.href);
}
