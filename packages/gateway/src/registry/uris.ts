/** Hosts know the resources of apps by their scheme, so that these stay in it. */
const APP_SCHEME = 'ui://';
const APP_FORM = 'ui://weir.';
const FORM = 'weir://';
const EXPRESSION = /(\{[^{}]*\})/u;
/** Stands in place of a server's key in the URIs of the gateway's own resources. */
export const INSTRUCTIONS = 'instructions';

/** Returns the public form of a URI that a server mentions; undefined where it stays as it is. */
export type PublicUri = (uri: string) => string | undefined;

/** The URI of the gateway's own resource with the whole instructions of a server. */
export function instructionsUri(serverKey: string): string {
  return `${FORM}${INSTRUCTIONS}/${encodePart(serverKey)}`;
}

/** The public URI of a resource that several servers list; templates keep their expressions. */
export function joinUri(serverKey: string, uri: string): string {
  const encoded = uri.split(EXPRESSION).map((part) => (part.startsWith('{') ? part : encodePart(part)));
  return `${prefixOf(serverKey, uri)}${encoded.join('')}`;
}

function prefixOf(serverKey: string, uri: string): string {
  return `${uri.startsWith(APP_SCHEME) ? APP_FORM : FORM}${encodePart(serverKey)}/`;
}

/** The other direction; undefined for any other URI. */
export function splitUri(publicUri: string): { serverKey: string; uri: string } | undefined {
  const form = [FORM, APP_FORM].find((start) => publicUri.startsWith(start));
  const slash = form === undefined ? -1 : publicUri.indexOf('/', form.length);
  if (form === undefined || slash < 0) return undefined;
  try {
    return {
      serverKey: decodeURIComponent(publicUri.slice(form.length, slash)),
      uri: decodeURIComponent(publicUri.slice(slash + 1)),
    };
  } catch {
    return undefined;
  }
}

/**
 * The same for a public URI that a client has made from a shared template: what stands in the template was encoded,
 * what the client has put in was not. Undefined where it is not from this template.
 */
export function splitTemplateUri(serverKey: string, template: string, publicUri: string): string | undefined {
  const prefix = prefixOf(serverKey, template);
  if (!publicUri.startsWith(prefix)) return undefined;
  let at = prefix.length;
  let uri = '';
  let isOpen = false;
  for (const part of template.split(EXPRESSION)) {
    if (part.startsWith('{')) isOpen = true;
    else if (part !== '') {
      const encoded = encodePart(part);
      const found = publicUri.indexOf(encoded, at);
      if (found < 0 || (!isOpen && found > at)) return undefined;
      uri += publicUri.slice(at, found) + part;
      at = found + encoded.length;
      isOpen = false;
    }
  }
  return isOpen || at === publicUri.length ? uri + publicUri.slice(at) : undefined;
}

/** Replaces half a surrogate pair, which JSON can hold but `encodeURIComponent` rejects. */
function encodePart(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

/** Characters of a template's beginning that decide for which URIs it stands: a bound on the work of a look-up. */
const LONGEST_PREFIX = 128;

/** Returns the text of a template before its first expression; undefined for a URI, which has none. */
export function literalPrefix(uri: string): string | undefined {
  const open = uri.indexOf('{');
  return open < 0 ? undefined : uri.slice(0, Math.min(open, LONGEST_PREFIX));
}
