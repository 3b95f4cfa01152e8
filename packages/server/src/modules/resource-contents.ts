import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { ResourceModule, ResourcePart, ResourceReturn } from './resource-module.ts';

type Returned = Exclude<ResourceReturn, undefined | { resultType: 'input_required' }>;

/** Makes the contents that a client gets from what a handler returned: bytes become base64. */
export function contentsOf(module: ResourceModule, uri: string, returned: Returned): ReadResourceResult {
  if (typeof returned === 'string') return whole(module, uri, { text: returned });
  if (returned instanceof Uint8Array) return whole(module, uri, { blob: base64(returned) });
  if (isParts(returned)) return { contents: returned.map((part) => addressed(module, uri, part)) };
  if (typeof returned === 'object' && returned !== null && Array.isArray(returned.contents)) return returned;
  throw new TypeError(
    `The handler of resource '${module.name}' returned a value of type ${typeof returned}: return a text, bytes or contents`,
  );
}

type Part = ReadResourceResult['contents'][number];

function isParts(returned: Returned): returned is readonly ResourcePart[] {
  return Array.isArray(returned);
}

function whole(module: ResourceModule, uri: string, part: ResourcePart): ReadResourceResult {
  return { contents: [addressed(module, uri, part)] };
}

function addressed(module: ResourceModule, uri: string, part: ResourcePart): Part {
  const mimeType = module.mimeType ?? ('text' in part ? 'text/plain' : 'application/octet-stream');
  return { uri, mimeType, ...part };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
