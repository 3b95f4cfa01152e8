import type { ReadResourceResult, Resource, ResourceLink, ServerContext } from '@modelcontextprotocol/server';
import { isText } from './content-types.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoredFile } from './stored-file.ts';

export interface FileResourceOptions {
  readonly name?: string;
  readonly description?: string;
  /** The user whose files are read; without it, files without an owner, as servers on stdio have one user only. */
  readonly owner?: string | ((extra: ServerContext) => string | undefined);
  /** Most bytes of a file that are read as a resource, 10 MiB unless set: a resource is one message, not a stream. */
  readonly maxBytes?: number;
}

/** Files as a `ResourceModule` for `registerResources`. */
export interface FileResourceModule {
  readonly name: string;
  readonly description: string;
  readonly template: string;
  list(extra: ServerContext): Promise<Resource[]>;
  handler(request: FileResourceRequest, extra: ServerContext): Promise<ReadResourceResult | undefined>;
}

interface FileResourceRequest {
  readonly uri: string;
  readonly variables: Readonly<Record<string, string | readonly string[]>>;
}

const URI_START = 'weir-file:///';

/** As much as most clients take in one message, once it is base64. */
const MAX_RESOURCE_BYTES = 10 * 1024 ** 2;

/** Offers the files of a store as resources, so that clients on stdio read them without HTTP. */
export function fileResources(store: ResourceStore, options: FileResourceOptions = {}): FileResourceModule {
  const { maxBytes = MAX_RESOURCE_BYTES, owner } = options;
  const ownerOf = (extra: ServerContext): string | undefined =>
    (typeof owner === 'function' ? owner(extra) : owner) || undefined;

  return {
    name: options.name ?? 'files',
    description: options.description ?? 'Files that the tools of this server have made',
    template: `${URI_START}{id}`,
    list: async (extra) => (await store.list(ownerOf(extra))).map(asResource),
    handler: async ({ uri, variables }, extra) => {
      const id = String(variables['id']);
      const { filename, size } = (await store.get(id, ownerOf(extra))) ?? { filename: '', size: 0 };
      if (size > maxBytes)
        throw new Error(
          `The file "${filename}" has more than ${maxBytes} bytes: download it by a link instead`,
        );
      const found = await store.read(id, ownerOf(extra));
      return found && { contents: [contentsOf(uri, found)] };
    },
  };
}

/** Makes the block of a tool's result that points to a file: by its resource, or by a link where `uri` gives one. */
export function resourceLink(file: StoredFile, { uri }: { readonly uri?: string } = {}): ResourceLink {
  return { type: 'resource_link', ...asResource(file), ...(uri !== undefined && { uri }) };
}

function asResource({ id, filename, contentType, size }: StoredFile): Resource {
  return { uri: `${URI_START}${id}`, name: filename, mimeType: contentType, size };
}

function contentsOf(
  uri: string,
  { file, bytes }: { file: StoredFile; bytes: Uint8Array },
): ReadResourceResult['contents'][number] {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const shared = { uri, mimeType: file.contentType };
  return isText(file.contentType)
    ? { ...shared, text: content.toString() }
    : { ...shared, blob: content.toString('base64') };
}
