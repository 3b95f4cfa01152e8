import { type FileBody, PIECE_BYTES } from './file-answer.ts';
import type { FileServingConfig } from './file-serving-config.ts';
import { createFileServing } from './file-serving.ts';

/** Creates the router as a fetch handler, for frameworks that speak in `Request` and `Response`. */
export function createFileFetchHandler(config: FileServingConfig): (request: Request) => Promise<Response> {
  const serving = createFileServing(config);
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
    const asked = { method: request.method, header, incoming: request };
    // A slash is not in any id, so that a path outside of the prefix is a file that does not exist.
    const answer = await serving.answer(asked, serving.below(pathname) ?? '/', search);
    const { status, headers, body } = answer;
    const content = typeof body === 'object' ? streamOf(body, serving.limits.stallMs) : body;
    return new Response(content ?? null, { status, headers: { ...headers } });
  };
}

/** Streams a file as fast as it is read, and closes it where the reader cancels or no longer reads. */
function streamOf(body: FileBody, stallMs: number): ReadableStream<Uint8Array> {
  let stall: NodeJS.Timeout | undefined;
  const finish = async (): Promise<void> => {
    clearTimeout(stall);
    await body.close();
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      if (body.left() > 0) controller.enqueue(await nextPiece(body));
      stall?.refresh();
      if (body.left() > 0) return;
      controller.close();
      await finish();
    } catch (error) {
      await finish();
      throw error;
    }
  };
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    stall = setTimeout(() => {
      controller.error(new Error(`The download was not read for ${stallMs} ms`));
      void finish();
    }, stallMs).unref();
  };
  return new ReadableStream({ start, pull, cancel: finish }, { highWaterMark: 0 });
}

async function nextPiece(body: FileBody): Promise<Uint8Array> {
  const piece = new Uint8Array(Math.min(PIECE_BYTES, body.left()));
  return piece.subarray(0, await body.read(piece));
}
