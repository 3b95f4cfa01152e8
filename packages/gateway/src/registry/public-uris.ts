import { quoted } from '../errors.ts';
import { PrefixTable } from './prefix-table.ts';
import { SeenNames } from './seen-names.ts';
import { INSTRUCTIONS, joinUri, literalPrefix, splitTemplateUri, splitUri } from './uris.ts';

/** A template that covers what another server lists. */
export interface CoveringTemplate {
  readonly serverKey: string;
  readonly template: string;
  /** The URI under which the template is offered instead. */
  readonly publicUri: string;
  /** The covered URI, or the text before the first expression of the covered template. */
  readonly covered: { readonly serverKey: string; readonly uri: string };
}

/** Says which template covers what, and where it is offered instead. */
export function describeCovering({ serverKey, template, publicUri, covered }: CoveringTemplate): string {
  const what = covered.uri === '' ? 'URIs of any scheme' : `'${quoted(covered.uri)}'`;
  return `Template '${quoted(template)}' of server '${serverKey}' covers ${what} of server '${covered.serverKey}'; clients see it as '${quoted(publicUri)}' instead`;
}

/** The templates of one server that begin with one text. */
interface TemplateClaim {
  readonly serverKey: string;
  readonly prefix: string;
  readonly templates: Set<string>;
  /** True where it covers an entry of another server, so that its templates get URIs with their server's key. */
  isHeldBack: boolean;
}

/** Something listed: a URI, or the text before the first expression of a template. */
interface Place {
  readonly serverKey: string;
  readonly text: string;
  readonly isTemplate: boolean;
}

/** The lists in which URIs stand: tools name those of their apps. */
type UriList = 'resources' | 'templates' | 'tools';

/** Templates of a server that are tried when a URI of its own is taken apart. */
const MOST_TRIED = 64;

/**
 * Remembers the URIs and templates that servers have listed since the gateway started, within the bounds of `SeenNames`. A
 * URI that several servers list is theirs under separate URIs. A template stands for all URIs that begin with its text
 * before the first expression; where that covers what another server lists, it is offered under a URI of its server's own
 * as well.
 */
export class PublicUris {
  readonly #onCovering: (template: CoveringTemplate) => void;
  readonly #listers = new Map<string, Set<string>>();
  readonly #sharers = new Map<string, Set<string>>();
  readonly #seen = new Map<string, Record<UriList, SeenNames>>();
  /** By prefix and server key. */
  readonly #claims = new PrefixTable<Map<string, TemplateClaim>>();
  /** By server key: the templates that are offered under URIs of their server's own, by the beginning of these. */
  readonly #sharedTemplates = new Map<string, PrefixTable<Set<string>>>();
  #order: ReadonlyMap<string, number>;
  readonly #sharesOf = new Map<string, number>();
  #shares = 0;

  constructor(order: readonly string[], onCovering: (template: CoveringTemplate) => void) {
    this.#order = placesOf(order);
    this.#onCovering = onCovering;
  }

  /** The servers of another config, in the order of names: what those that are not in it have had is free again. */
  setServers(order: readonly string[]): void {
    this.#order = placesOf(order);
    for (const [serverKey, seen] of this.#seen) {
      if (this.#order.has(serverKey)) continue;
      this.#seen.delete(serverKey);
      for (const names of Object.values(seen)) for (const uri of names.all()) this.#forget(serverKey, uri);
    }
    for (const prefix of this.#claims.prefixes())
      for (const claim of this.#claims.get(prefix)?.values() ?? []) this.#judgeScheme(claim);
  }

  /** Enters the URIs and templates of a new list, one at each step. Keeps entries that are no longer listed, up to a limit. */
  *enter(serverKey: string, list: UriList, uris: readonly string[]): Generator<void, void> {
    const all = this.#seen.get(serverKey) ?? {
      resources: new SeenNames(),
      templates: new SeenNames(),
      tools: new SeenNames(),
    };
    this.#seen.set(serverKey, all);
    const seen = all[list];
    const claims = new PrefixTable<TemplateClaim>();
    seen.begin();
    for (const uri of uris) {
      seen.see(uri);
      if (this.#listers.get(uri)?.has(serverKey) !== true) this.#note(serverKey, uri, claims);
      yield;
    }
    yield* this.#cover(claims);
    for (const uri of seen.surplus()) {
      if (!Object.values(all).some((names) => names.has(uri))) this.#forget(serverKey, uri);
      yield;
    }
  }

  /** Returns true for a server that has listed something. */
  knows(serverKey: string): boolean {
    return this.#seen.has(serverKey);
  }

  /** Bytes that are kept for URIs that a server lists no more. */
  pastBytes(serverKey: string): number {
    const seen = this.#seen.get(serverKey);
    if (seen === undefined) return 0;
    return seen.resources.pastBytes + seen.templates.pastBytes + seen.tools.pastBytes;
  }

  publicUri(serverKey: string, uri: string): string {
    return this.sharedUri(serverKey, uri) ?? uri;
  }

  /** Returns the URI of a server's own for what it may not have under the plain one; undefined where it may. */
  sharedUri(serverKey: string, uri: string): string | undefined {
    return this.#sharers.get(serverKey)?.has(uri) ? joinUri(serverKey, uri) : undefined;
  }

  /** Number of URIs that ever got a server's key; only grows, so that a change shows. */
  get shares(): number {
    return this.#shares;
  }

  /** Returns the same number for one server. */
  sharesOf(serverKey: string): number {
    return this.#sharesOf.get(serverKey) ?? 0;
  }

  sharesUris(serverKey: string): boolean {
    return this.#sharers.has(serverKey);
  }

  /** The servers that have listed a URI. */
  listersOf(uri: string): readonly string[] {
    return [...(this.#listers.get(uri) ?? [])];
  }

  /** Returns the server whose template stands for a URI, running or not, and those whose template is held back. */
  claimantsOf(uri: string): { readonly owner: string | undefined; readonly heldBack: readonly string[] } {
    const claims = this.#claims.matches(uri).flatMap(({ value }) => [...value.values()]);
    return {
      owner: claims.find(({ isHeldBack }) => !isHeldBack)?.serverKey,
      heldBack: [...new Set(claims.map(({ serverKey }) => serverKey))],
    };
  }

  /** Returns the server's own URI for one that was made from a template under a URI of the server's own. */
  expanded(serverKey: string, publicUri: string): string | undefined {
    let tried = 0;
    for (const { value } of this.#sharedTemplates.get(serverKey)?.matches(publicUri) ?? []) {
      for (const template of value) {
        if (tried++ === MOST_TRIED) return undefined;
        const uri = splitTemplateUri(serverKey, template, publicUri);
        if (uri !== undefined) return uri;
      }
    }
    return undefined;
  }

  /**
   * Remembers who listed what: once a URI has several owners it stays theirs under separate URIs. Adds the claim of a new
   * template to `claims`.
   */
  #note(lister: string, uri: string, claims: PrefixTable<TemplateClaim>): void {
    const listers = this.#listers.get(uri) ?? new Set<string>();
    this.#listers.set(uri, listers.add(lister));
    if (listers.size > 1) for (const serverKey of listers) this.#share(serverKey, uri);
    else if (this.#isOfOurForm(uri)) this.#share(lister, uri);
    const place = placeOf(lister, uri);
    for (const { value } of this.#claims.matches(place.text))
      for (const claim of value.values()) this.#judge(claim, place);
    const claim = this.#claim(lister, uri);
    if (claim?.templates.size === 1) claims.set(claim.prefix, claim);
  }

  /** Looks once through what is known for all that new templates cover, one URI at each step. */
  *#cover(claims: PrefixTable<TemplateClaim>): Generator<void, void> {
    if (claims.prefixes().length === 0 || this.#order.size < 2) return;
    for (const [uri, listers] of this.#listers) {
      for (const { value } of claims.matches(literalPrefix(uri) ?? uri))
        for (const lister of listers) this.#judge(value, placeOf(lister, uri));
      yield;
    }
  }

  #claim(serverKey: string, template: string): TemplateClaim | undefined {
    const prefix = literalPrefix(template);
    if (prefix === undefined) return undefined;
    const claims = this.#claims.get(prefix) ?? new Map<string, TemplateClaim>();
    this.#claims.set(prefix, claims);
    const claim = claims.get(serverKey) ?? { serverKey, prefix, templates: new Set(), isHeldBack: false };
    claims.set(serverKey, claim);
    claim.templates.add(template);
    if (claim.isHeldBack) this.#share(serverKey, template);
    else this.#judgeScheme(claim);
    return claim;
  }

  /** A template that may stand for every scheme would cover whatever other servers of the config list. */
  #judgeScheme(claim: TemplateClaim): void {
    if (claim.isHeldBack || claim.prefix.includes(':')) return;
    const other = [...this.#order.keys()].find((serverKey) => serverKey !== claim.serverKey);
    if (other !== undefined) this.#holdBack(claim, { serverKey: other, uri: '' });
  }

  /** Holds a template back that covers what another server lists; of two that cover the same, the later in the config. */
  #judge(claim: TemplateClaim, { serverKey, text, isTemplate }: Place): void {
    if (claim.isHeldBack || claim.serverKey === serverKey) return;
    const isEqual = isTemplate && text === claim.prefix;
    if (isEqual && this.#placeOf(claim.serverKey) < this.#placeOf(serverKey)) return;
    this.#holdBack(claim, { serverKey, uri: text });
  }

  #holdBack(claim: TemplateClaim, covered: CoveringTemplate['covered']): void {
    const { serverKey, templates } = claim;
    claim.isHeldBack = true;
    for (const template of templates) this.#share(serverKey, template);
    const [template = ''] = templates;
    this.#onCovering({ serverKey, template, publicUri: joinUri(serverKey, template), covered });
  }

  #forget(serverKey: string, uri: string): void {
    const listers = this.#listers.get(uri);
    listers?.delete(serverKey);
    if (listers?.size === 0) this.#listers.delete(uri);
    this.#sharers.get(serverKey)?.delete(uri);
    const prefix = literalPrefix(uri);
    if (prefix === undefined) return;
    removeFrom(this.#sharedTemplates.get(serverKey), sharedPrefix(serverKey, uri), uri);
    const claims = this.#claims.get(prefix);
    const claim = claims?.get(serverKey);
    if (claim === undefined || !claim.templates.delete(uri) || claim.templates.size > 0) return;
    claims?.delete(serverKey);
    if (claims?.size === 0) this.#claims.delete(prefix);
  }

  #share(serverKey: string, uri: string): void {
    const shared = this.#sharers.get(serverKey) ?? new Set<string>();
    if (shared.has(uri)) return;
    this.#shares++;
    this.#sharesOf.set(serverKey, this.sharesOf(serverKey) + 1);
    this.#sharers.set(serverKey, shared.add(uri));
    if (literalPrefix(uri) === undefined) return;
    const table = this.#sharedTemplates.get(serverKey) ?? new PrefixTable<Set<string>>();
    this.#sharedTemplates.set(serverKey, table);
    const prefix = sharedPrefix(serverKey, uri);
    table.set(prefix, (table.get(prefix) ?? new Set()).add(uri));
  }

  /** Returns true for a URI in the gateway's own form, with which a server could pass for the server that the URI names. */
  #isOfOurForm(uri: string): boolean {
    const named = splitUri(uri)?.serverKey;
    return named !== undefined && (named === INSTRUCTIONS || this.#order.has(named));
  }

  #placeOf(serverKey: string): number {
    return this.#order.get(serverKey) ?? this.#order.size;
  }
}

function placesOf(order: readonly string[]): Map<string, number> {
  return new Map(order.map((serverKey, place) => [serverKey, place]));
}

function placeOf(serverKey: string, uri: string): Place {
  const prefix = literalPrefix(uri);
  return { serverKey, text: prefix ?? uri, isTemplate: prefix !== undefined };
}

/** Returns how the URI begins that a server has of its own for a template. */
function sharedPrefix(serverKey: string, template: string): string {
  return literalPrefix(joinUri(serverKey, template)) ?? '';
}

function removeFrom(table: PrefixTable<Set<string>> | undefined, prefix: string, uri: string): void {
  const uris = table?.get(prefix);
  uris?.delete(uri);
  if (uris?.size === 0) table?.delete(prefix);
}
