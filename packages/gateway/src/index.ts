export { askGateway, endGateway, findGateways, followGateway } from './admin/socket-client.ts';
export type { FoundGateway } from './admin/socket-client.ts';
export type { SocketLocation } from './admin/socket-paths.ts';
export { openControlSocket } from './admin/open-control-socket.ts';
export { executionTracker } from './api/execution-tracker.ts';
export type { TrackedScope } from './api/execution-tracker.ts';
export type { GatewayReport, ReportedServer, GatewayInfo } from './admin/control-requests.ts';
export { serverConfigs } from './api/server-config.ts';
export type { MCPServerConfig, SectionBinding } from './api/server-config.ts';
export type {
  ErrorInfo,
  ExecutionTracker,
  InvocationSource,
  InvocationStatus,
  InvokingClient,
  ToolExecutionResult,
  ToolInvocationRequest,
} from './call/history/invocation.ts';
export type { ConfigChanges } from './config/diff.ts';
export type { CliArgs } from './api/cli-args.ts';
export type { McpConfig, ServerConfig } from './config/config.generated.ts';
export { describeConfigError } from './config/describe-error.ts';
export { expandConfigEnvVars, expandEnvVar } from './config/expand-env.ts';
export type { ExpansionContext, ExpansionResult } from './config/expand-env.ts';
export { loadConfig } from './config/load.ts';
export type { LoadedConfig } from './config/load.ts';
export { validateConfig } from './config/validate.ts';
export type { ConfigValidation, ValidationError } from './config/validate.ts';
export {
  ChildServerError,
  ConfigError,
  ConfigErrorCode,
  ErrorPhase,
  RpcError,
  RpcErrorCode,
} from './errors.ts';
export { isLoopback } from '@weir/server/access';
export type { HttpFront } from './front/http/http-front.ts';
export { DEFAULT_PORT, serveHttp } from './front/http/serve-http.ts';
export type { HttpLimits, HttpOptions } from './front/http/serve-http.ts';
export { serveStdio } from './front/stdio.ts';
export type { StdioOptions } from './front/stdio.ts';
export type { ServerReport } from './gateway/control.ts';
export { createGateway, gatewayFor } from './gateway/gateway.ts';
export type { AggregatorServer, Gateway } from './gateway/gateway.ts';
export type { GatewayEvent, GatewayListener } from './gateway/events.ts';
export type { GatewayOptions } from './gateway/options.ts';
export type { GroupTools } from './gateway/program-calls.ts';
export { createLock } from './admin/lock.ts';
export type { LockOptions } from './admin/lock.ts';
export type { Log } from './log.ts';
export type { ToolRegistryEntry } from './registry/route.ts';
export { parseToolPrefix, validateSeparator, validateToolName } from './registry/names.ts';
export { addServerTools, lookupTool, removeServerTools } from './registry/tool-registry.ts';
export type { ToolRegistry } from './registry/tool-registry.ts';
export { readHistory } from './state/history-files.ts';
export { stateToken } from './state/access-token.ts';
export type { StateToken } from './state/access-token.ts';
export type { ServerHealthStatus, SupervisionRules } from './upstream/supervision/health.ts';
export { listContainers, removeOrphans } from './upstream/container/list-containers.ts';
export type { OwnedContainer, Reaped } from './upstream/container/list-containers.ts';
export { LOCK_FILE } from './upstream/lazy/catalogues.ts';
export type { LoggedLine } from './upstream/supervision/server-logs.ts';
export { ServerStatus } from './upstream/upstream.ts';
export type { ChildServerClient } from './upstream/upstream.ts';
export type { ServerEvent } from './upstream/supervision/supervisor.ts';
export type { JSONSchema, ToolSchema } from './upstream/catalogue/catalogue.ts';
export type { ServerClient } from './upstream/upstream.ts';
