/** Returns the part of links before the id, without a slash at its end. */
export function linkBase(routePrefix: string): string {
  checkPrefix(routePrefix);
  return routePrefix.replace(/\/+$/, '');
}

/** Returns the path that requests begin with: '/exports' for 'https://files.example/exports/'. */
export function prefixPath(routePrefix: string): string {
  const base = linkBase(routePrefix);
  return base.startsWith('/') || base === '' ? base : new URL(base).pathname.replace(/\/+$/, '');
}

/** Returns the rest of a path below a prefix: '' for the prefix itself; undefined for a path outside. */
export function pathBelow(prefix: string, path: string): string | undefined {
  if (path === prefix || path === `${prefix}/`) return '';
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : undefined;
}

function checkPrefix(routePrefix: string): void {
  if (/^\/(?!\/)[\w.~/-]*$/.test(routePrefix)) return;
  if (/^https?:\/\//.test(routePrefix) && URL.canParse(routePrefix)) {
    const { search, hash, username } = new URL(routePrefix);
    if (search === '' && hash === '' && username === '') return;
  }
  throw new Error(
    `routePrefix "${routePrefix}" must be a path such as /exports, or an http(s) URL with that path`,
  );
}
