// @ts-check
/** @param {string} path */
export const gateway = (path) => `packages/gateway/src/${path}`;

/**
 * A test of the gateway package.
 * @param {string} path
 * @param {string} name a part of its full name
 */
export const test = (path, name) => ({ file: gateway(path), name });
