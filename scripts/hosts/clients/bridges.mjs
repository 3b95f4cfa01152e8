// @ts-check
// Bridges that make a server on HTTP one on stdio: the SDK's client starts them, and they talk to the gateway.
import { binOf } from '../install.mjs';
import { runDriver } from '../library-host.mjs';

/** @typedef {import('../clients.mjs').Client} Client */
/** @typedef {import('../scene.mjs').Scene['http']} Http */

const SDK = { '@modelcontextprotocol/sdk': '1.32.2' };

/** @type {Readonly<Record<string, Client>>} */
export const BRIDGES = {
  'mcp-remote': bridge('mcp-remote', { 'mcp-remote': '0.15.1' }, ({ url, token }) => [
    url,
    '--allow-http',
    '--transport',
    'http-only',
    '--header',
    `Authorization: Bearer ${token}`,
  ]),
  'supergateway-http': bridge(
    'supergateway --streamableHttp',
    { supergateway: '4.0.0' },
    ({ url, token }) => ['--streamableHttp', url, '--oauth2Bearer', token, '--logLevel', 'none'],
  ),
  'supergateway-sse': bridge('supergateway --sse', { supergateway: '4.0.0' }, ({ url, token }) => [
    '--sse',
    new URL('/sse', url).href,
    '--oauth2Bearer',
    token,
    '--logLevel',
    'none',
  ]),
};

/**
 * @param {string} name
 * @param {Record<string, string>} own
 * @param {(http: Http) => string[]} argsFor
 * @returns {Client}
 */
function bridge(name, own, argsFor) {
  const [command = ''] = Object.keys(own);
  /** @type {Client['run']} */
  const run = (scene) => {
    const stdio = { command: scene.node, args: [binOf(scene.folder, command), ...argsFor(scene.http)] };
    return runDriver(scene, 'sdk-v1', { transport: 'stdio', stdio });
  };
  return { name, packages: { ...own, ...SDK }, transports: ['http'], run };
}
