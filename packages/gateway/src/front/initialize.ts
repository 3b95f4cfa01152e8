import { quoted, quotedData, RpcError, RpcErrorCode } from '../errors.ts';
import { LEGACY_VERSIONS, Meta, MODERN_VERSION, type Era } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import { stringValue, valueText } from '../wire/json/members.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { GatewayDescription } from './gateway-capabilities.ts';

/** The answer to the legacy handshake, and the version it settles on. */
export function initializeResult(
  { params }: Message,
  offer: GatewayDescription,
): { version: string; result: string } {
  const asked = params && stringValue(params, 'protocolVersion');
  const version = asked !== undefined && LEGACY_VERSIONS.includes(asked) ? asked : LEGACY_VERSIONS[0];
  // The last of them alone has tasks.
  const { tasks, ...earlier } = offer.capabilities;
  const capabilities = version === LEGACY_VERSIONS[0] ? { ...earlier, tasks } : earlier;
  return { version, result: encode({ protocolVersion: version, ...offer, capabilities }) };
}

/** The answer to the question of the modern revision, or why there is none. */
export function discoverResult(
  { meta }: Message,
  { serverInfo, ...offer }: GatewayDescription,
): string | RpcError {
  const version = meta && stringValue(meta, Meta.PROTOCOL_VERSION);
  if (version !== undefined && version !== MODERN_VERSION) return unsupported(version);
  return encode({
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION],
    ...offer,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [Meta.SERVER_INFO]: serverInfo },
  });
}

/** Returns the client's capabilities as JSON: in `initialize`, or in the envelope of a modern request. */
export function clientCapabilities({ method, params, meta }: Message): string {
  const text =
    method === Method.INITIALIZE
      ? params && valueText(params, 'capabilities')
      : meta && valueText(meta, Meta.CLIENT_CAPABILITIES);
  return text?.startsWith('{') ? text : '{}';
}

/** The era of a request on a connection whose era may be settled already, or why it cannot be served. */
export function eraOf({ method, meta }: Message, settled: Era | undefined): Era | RpcError {
  const version = meta && stringValue(meta, Meta.PROTOCOL_VERSION);
  if (settled === 'legacy' || (settled === undefined && version === undefined)) return 'legacy';
  if (method === Method.INITIALIZE) return unsupported(Method.INITIALIZE);
  if (version === undefined) return invalidEnvelope(Meta.PROTOCOL_VERSION);
  if (version !== MODERN_VERSION) return unsupported(version);
  const capabilities = meta && valueText(meta, Meta.CLIENT_CAPABILITIES);
  return capabilities?.startsWith('{') ? 'modern' : invalidEnvelope(Meta.CLIENT_CAPABILITIES);
}

function unsupported(requested: string): RpcError {
  const text = `Unsupported protocol version: ${quoted(requested)}. This connection speaks ${MODERN_VERSION}.`;
  return new RpcError(RpcErrorCode.UNSUPPORTED_VERSION, text, {
    supported: [MODERN_VERSION],
    requested: quotedData(requested),
  });
}

function invalidEnvelope(key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `Every request needs "${key}" in its _meta.`);
}
