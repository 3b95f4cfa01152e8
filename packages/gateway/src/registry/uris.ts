const SCHEME = 'weir://';

/** The public URI of a resource that several servers list; templates keep their expressions. */
export function joinUri(serverKey: string, uri: string): string {
  const encoded = uri
    .split(/(\{[^{}]*\})/u)
    .map((part) => (part.startsWith('{') ? part : encodeURIComponent(part)))
    .join('');
  return `${SCHEME}${encodeURIComponent(serverKey)}/${encoded}`;
}

/** The other direction; undefined for any other URI. */
export function splitUri(publicUri: string): { serverKey: string; uri: string } | undefined {
  if (!publicUri.startsWith(SCHEME)) return undefined;
  const slash = publicUri.indexOf('/', SCHEME.length);
  if (slash < 0) return undefined;
  try {
    return {
      serverKey: decodeURIComponent(publicUri.slice(SCHEME.length, slash)),
      uri: decodeURIComponent(publicUri.slice(slash + 1)),
    };
  } catch {
    return undefined;
  }
}

/** True where a URI can come from a template. `{x}` stands for one path segment or less, `{+x}` and its like for anything. */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts = template.split(/(\{[^{}]*\})/u);
  let at = 0;
  let open: 'no' | 'segment' | 'anything' = 'no';
  for (const part of parts) {
    if (part.startsWith('{') && part.endsWith('}')) {
      open = /^\{[+#./;?&]/u.test(part) ? 'anything' : open === 'anything' ? open : 'segment';
      continue;
    }
    if (part === '') continue;
    const found = open === 'no' ? (uri.startsWith(part, at) ? at : -1) : uri.indexOf(part, at);
    if (found < 0 || (open === 'segment' && uri.slice(at, found).includes('/'))) return false;
    at = found + part.length;
    open = 'no';
  }
  const rest = uri.slice(at);
  return open === 'no' ? rest === '' : open === 'anything' || !rest.includes('/');
}
