export { parseConfig, type ParseConfigOptions } from './config/parse-config.ts';
export type {
  ParsedRedirectUrl,
  ParsedTransportConfig,
  ServerConfig,
  TransportConfig,
} from './config/transport-config.ts';
