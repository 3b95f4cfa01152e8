import { type FileBody, PIECE_BYTES } from './file-answer.ts';
import type { FileServingConfig } from './file-serving-config.ts';
import { createFileServing } from './file-serving.ts';
import { endOfUrl } from './host-check.ts';

/** Creates the router as a fetch handler, for frameworks that speak in `Request` and `Response`. */
export function createFileFetchHandler(config: FileServingConfig): (request: Request) => Promise<Response> {
  const serving = createFileServing(config);
  return async (request) => {
    const url = new URL(request.url);
    // Requests that a program makes have no Host; their URL says the same.
    const header = (name: string): string | undefined =>
      request.headers.get(name) ?? (name === 'host' ? url.host : undefined);
    const asked = { method: request.method, header, incoming: request, end: endOfUrl(url) };
    // A slash is not in any id, so that a path outside of the prefix is a file that does not exist.
    const answer = await serving.answer(asked, serving.below(url.pathname) ?? '/', url.search);
    const { status, headers, body } = answer;
    const content = typeof body === 'object' ? streamOf(body, serving.limits.stallMs) : body;
    return new Response(content ?? null, { status, headers: { ...headers } });
  };
}

/**
 * Streams a file as fast as it is read, and closes it where the reader cancels or no longer reads. A reader of the mode
 * `byob` brings its own buffer, so that a download of any length takes the same memory.
 */
function streamOf(body: FileBody, stallMs: number): ReadableStream<Uint8Array> {
  let stall: NodeJS.Timeout | undefined;
  const finish = async (): Promise<void> => {
    clearTimeout(stall);
    await body.close();
  };
  const pull = async (controller: ReadableByteStreamController): Promise<void> => {
    try {
      await fillRequest(controller, body);
      stall?.refresh();
      if (body.left() === 0) await finish();
    } catch (error) {
      await finish();
      throw error;
    }
  };
  const start = (controller: ReadableByteStreamController): void => {
    stall = setTimeout(() => {
      controller.error(new Error(`The download was not read for ${stallMs} ms`));
      void finish();
    }, stallMs).unref();
  };
  return new ReadableStream({
    type: 'bytes',
    autoAllocateChunkSize: PIECE_BYTES,
    start,
    pull,
    cancel: finish,
  });
}

async function fillRequest(controller: ReadableByteStreamController, body: FileBody): Promise<void> {
  const request = controller.byobRequest;
  const length = body.left() === 0 ? 0 : await body.read(viewOf(request));
  if (body.left() === 0) {
    // A closed stream still answers the read that waits: with the last bytes, or with none.
    if (length > 0) request?.respond(length);
    controller.close();
    if (length === 0) request?.respond(0);
  } else request?.respond(length);
}

/** Returns the buffer to fill: the reader's own, or the one that the stream allocates for each read. */
function viewOf(request: ReadableStreamBYOBRequest | null): Uint8Array {
  const view = request?.view;
  if (view === null || view === undefined)
    throw new TypeError('A byte stream pulled without a buffer to fill');
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
