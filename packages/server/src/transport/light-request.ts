/** The parts from which a `Request` is made when something other than its headers is read. */
export interface RequestParts {
  readonly method: string;
  readonly url: () => string;
  readonly header: (name: string) => string | undefined;
  /** All headers, in Node's form. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly signal: () => AbortSignal;
  readonly body: () => unknown;
}

const READ_FROM_REAL = [
  'body',
  'bodyUsed',
  'cache',
  'credentials',
  'destination',
  'duplex',
  'integrity',
  'keepalive',
  'mode',
  'redirect',
  'referrer',
  'referrerPolicy',
] as const;
const CALLED_ON_REAL = ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const;
const HEADERS_CALLED = [
  'append',
  'delete',
  'set',
  'entries',
  'keys',
  'values',
  'forEach',
  'getSetCookie',
  Symbol.iterator,
] as const;

/** Makes a request that costs next to nothing: a real `Request` takes longer than the whole answer to a small call. */
export function lightRequest(parts: RequestParts): Request {
  return new LightRequest(parts) as unknown as Request;
}

class LightRequest {
  readonly #parts: RequestParts;
  #headers: LightHeaders | undefined;
  #real: Request | undefined;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  get method(): string {
    return this.#parts.method;
  }

  get url(): string {
    return this.#parts.url();
  }

  get headers(): Headers {
    return (this.#headers ??= new LightHeaders(this.#parts)) as unknown as Headers;
  }

  get signal(): AbortSignal {
    return this.#parts.signal();
  }

  /** Makes the real request at the first use of what only it has. */
  static readonly realOf = (light: LightRequest): Request => {
    const { method, url, headers, signal, body } = light.#parts;
    const value = body();
    light.#real ??= new Request(url(), {
      method,
      headers: realHeaders(headers),
      signal: signal(),
      ...(value !== undefined && method !== 'GET' && method !== 'HEAD' && { body: JSON.stringify(value) }),
    });
    return light.#real;
  };
}

class LightHeaders {
  readonly #parts: RequestParts;
  #real: Headers | undefined;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  get(name: string): string | null {
    return (this.#real ? this.#real.get(name) : this.#parts.header(name.toLowerCase())) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  static readonly realOf = (light: LightHeaders): Headers =>
    (light.#real ??= realHeaders(light.#parts.headers));
}

for (const name of READ_FROM_REAL)
  Object.defineProperty(LightRequest.prototype, name, {
    get(this: LightRequest) {
      return Reflect.get(LightRequest.realOf(this), name) as unknown;
    },
  });
for (const name of CALLED_ON_REAL) delegate(LightRequest.prototype, name, LightRequest.realOf);
for (const name of HEADERS_CALLED) delegate(LightHeaders.prototype, name, LightHeaders.realOf);

/** Gives a prototype a method that calls the one of the real object. */
function delegate<Light>(prototype: object, name: string | symbol, realOf: (light: Light) => object): void {
  Object.defineProperty(prototype, name, {
    value(this: Light, ...args: unknown[]) {
      const real = realOf(this);
      return Reflect.apply(Reflect.get(real, name) as (...args: unknown[]) => unknown, real, args);
    },
  });
}

function realHeaders(values: RequestParts['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && !name.startsWith(':'))
      for (const item of [value].flat()) headers.append(name, item);
  return headers;
}
