import type { OpenedFile } from './store-root.ts';

/** An answer that both adapters can send. */
export interface FileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for HEAD, and where the status has no body. */
  readonly body?: string | FileBody | undefined;
}

/** A part of an open file. */
export interface FileBody {
  /** Bytes that are left to read. */
  left(): number;
  /** Reads the next bytes and returns their number; throws where the file has become shorter. */
  read(buffer: Uint8Array): Promise<number>;
  /** Closes the file. Further calls do nothing. */
  close(): Promise<void>;
}

/** Bytes that a download holds in memory. */
export const PIECE_BYTES: number = 128 * 1024;

/** Headers of every answer: no answer is kept by caches, guessed to be of another type, or used by other sites. */
const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'private, no-store',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

const JSON_TYPE = 'application/json; charset=utf-8';

/** The answer to every file that is missing or refused. One function makes it, so that the reason never shows. */
export function notFound(): FileAnswer {
  return refusal(404, 'NOT_FOUND', 'Not found');
}

export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): FileAnswer {
  return textAnswer(status, JSON.stringify({ type: 'error', message, code }), headers);
}

export function jsonAnswer(value: unknown): FileAnswer {
  return textAnswer(200, JSON.stringify(value), {});
}

export function bareAnswer(status: number, headers: Record<string, string>): FileAnswer {
  return { status, headers: { ...SAFE_HEADERS, ...headers } };
}

function textAnswer(status: number, body: string, headers: Record<string, string>): FileAnswer {
  const length = String(Buffer.byteLength(body));
  return { ...bareAnswer(status, { 'content-type': JSON_TYPE, 'content-length': length, ...headers }), body };
}

/** Makes a body of the bytes of an open file from `first` on. */
export function fileBody({ handle }: OpenedFile, first: number, length: number): FileBody {
  let position = first;
  const end = first + length;
  let isClosed = false;
  return {
    left: () => end - position,
    read: async (buffer) => {
      const wanted = Math.min(buffer.length, end - position);
      const { bytesRead } = await handle.read(buffer, 0, wanted, position);
      if (bytesRead === 0) throw new Error('The file became shorter while it was sent');
      position += bytesRead;
      return bytesRead;
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await handle.close();
    },
  };
}
