/** The product's version; the build puts the real one in its place. */
declare const WEIR_VERSION: string | undefined;

export const VERSION: string = typeof WEIR_VERSION === 'string' ? WEIR_VERSION : '0.0.0-source';
