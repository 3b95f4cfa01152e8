/** Browser without a window: follows redirects with cookies and submits the hidden forms of a page. */
export interface HeadlessBrowser {
  /** Goes to an address and on from there; returns the last page. Does not load an address that begins with `stopAt`. */
  visit(url: string, stopAt?: string): Promise<BrowserPage>;
}

export interface BrowserPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Requests that a sign-in takes at most. */
const MOST_STEPS = 30;

export function createHeadlessBrowser(): HeadlessBrowser {
  const cookies = new Map<string, Map<string, string>>();
  const load = async (url: string, form?: URLSearchParams): Promise<Response> => {
    const jar = cookies.get(new URL(url).origin) ?? new Map<string, string>();
    cookies.set(new URL(url).origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    });
    for (const text of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (text.split(';')[0] ?? '').split(/=(.*)/s);
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  return {
    async visit(start, stopAt) {
      let url = start;
      let form: URLSearchParams | undefined;
      for (let step = 0; step < MOST_STEPS; step += 1) {
        if (stopAt !== undefined && url.startsWith(stopAt))
          return { url, status: 0, headers: new Headers(), body: '' };
        const response = await load(url, form);
        const body = await response.text();
        const { status, headers } = response;
        const location = headers.get('location');
        const next = location === null ? formIn(body, url) : { url: new URL(location, url).href };
        if (next === undefined) return { url, status, headers, body };
        ({ url, form } = { form: undefined, ...next });
      }
      throw new Error(`The sign-in takes more than ${MOST_STEPS} steps`);
    },
  };
}

function formIn(body: string, base: string): { url: string; form: URLSearchParams } | undefined {
  const action = /<form[^>]*\saction="([^"]+)"/.exec(body)?.[1];
  const inputs: [string, string][] = [...body.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
    /\bname="([^"]*)"/.exec(input)?.[1] ?? '',
    /\bvalue="([^"]*)"/.exec(input)?.[1] ?? '',
  ]);
  if (action === undefined || inputs.length === 0) return undefined;
  return { url: new URL(action, base).href, form: new URLSearchParams(inputs) };
}
