import {
  addServerTools,
  ChildServerError,
  ConfigError,
  expandConfigEnvVars,
  expandEnvVar,
  lookupTool,
  parseToolPrefix,
  removeServerTools,
  validateConfig,
  validateSeparator,
  validateToolName,
  type AggregatorServer,
  type ChildServerClient,
  type CliArgs,
  type ConfigErrorCode,
  type ConfigValidation,
  type ErrorPhase,
  type ExecutionTracker,
  type ExpansionContext,
  type ExpansionResult,
  type JSONSchema,
  type McpConfig,
  type MCPServerConfig,
  type ServerClient,
  type ServerConfig,
  type SectionBinding,
  type ServerHealthStatus,
  type ServerStatus,
  type ToolExecutionResult,
  type ToolInvocationRequest,
  type ToolRegistry,
  type ToolRegistryEntry,
  type ToolSchema,
  type ValidationError,
} from '@weir/gateway';
import { describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';

// Each documented type is written out here as the documents have it. `tsc` compares it with ours in both directions:
// ours can be read as the documented one, and a value of the documented one is accepted as ours.

/** Compiles only where `Ours` can be read as `Read`, and a `Made` is accepted as `Ours`. */
function holds<Read, Ours extends Read, Made extends Ours>(): void {
  expect<[Read, Ours, Made] | undefined>(undefined).toBeUndefined();
}

/** A documented type with some members as a ruling has them. */
type With<Documented, Ruled> = Omit<Documented, keyof Ruled> & Ruled;

interface DocumentedServerConfig {
  command: string;
  args?: string[];
  env?: Record<string, string>;
}

interface DocumentedMcpConfig {
  mcpServers: { [serverKey: string]: DocumentedServerConfig };
}

/** Ruling AGG-CFG-2: an entry may have a `url` or an `image` in place of a command. */
type ReadServerConfig = With<DocumentedServerConfig, { command?: string }>;
interface ReadMcpConfig {
  mcpServers: { [serverKey: string]: ReadServerConfig };
}

/** Ruling AGG-API-1: the server itself, where the documents have the SDK's client. */
interface DocumentedClient {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  listTools(): Promise<{ tools: DocumentedToolSchema[] }>;
}

interface DocumentedChildServerClient {
  serverKey: string;
  client: DocumentedClient;
  config: DocumentedServerConfig;
  status: 'initializing' | 'running' | 'failed' | 'stopped';
  error?: Error;
}

interface DocumentedJSONSchema {
  type: string;
  properties?: Record<string, unknown>;
  required?: string[];
  [key: string]: unknown;
}

interface DocumentedToolSchema {
  name: string;
  description?: string;
  inputSchema: DocumentedJSONSchema;
}

interface DocumentedToolRegistryEntry {
  client: DocumentedClient;
  serverKey: string;
  originalName: string;
  schema: DocumentedToolSchema;
}

type DocumentedToolRegistry = Map<string, DocumentedToolRegistryEntry>;

interface DocumentedAggregatorServer {
  /** Ruling AGG-API-1: our front, where the documents have the SDK's server. */
  server: AggregatorServer['server'];
  children: Map<string, DocumentedChildServerClient>;
  registry: DocumentedToolRegistry;
  config: DocumentedMcpConfig;
}

interface DocumentedCliArgs {
  configPath: string;
  debug?: boolean;
  logFile?: string;
  name?: string;
  version?: string;
  separator?: string;
}

interface DocumentedExpansionContext {
  env: Record<string, string>;
}

type DocumentedExpansionResult<T> =
  | { success: true; value: T }
  | { success: false; error: string; missingVars: string[] };

interface DocumentedValidationError {
  path: string;
  message: string;
  value?: unknown;
}

interface DocumentedConfigValidation {
  isValid: boolean;
  errors: DocumentedValidationError[];
}

type ReadChild = With<DocumentedChildServerClient, { config: ReadServerConfig }>;
type ReadAggregator = With<
  DocumentedAggregatorServer,
  { children: Map<string, ReadChild>; config: ReadMcpConfig }
>;

describe('the documented types of the aggregator', () => {
  verifies('AGG-API-1', 'the documented types of the aggregator match ours in both directions', () => {
    holds<ReadServerConfig, ServerConfig, DocumentedServerConfig>();
    holds<ReadMcpConfig, McpConfig, DocumentedMcpConfig>();
    holds<DocumentedClient, ServerClient, DocumentedClient>();
    holds<ReadChild, ChildServerClient, DocumentedChildServerClient>();
    holds<DocumentedChildServerClient['status'], ServerStatus, DocumentedChildServerClient['status']>();
    holds<DocumentedJSONSchema, JSONSchema, DocumentedJSONSchema>();
    holds<DocumentedToolSchema, ToolSchema, DocumentedToolSchema>();
    holds<DocumentedToolRegistryEntry, ToolRegistryEntry, DocumentedToolRegistryEntry>();
    holds<DocumentedToolRegistry, ToolRegistry, DocumentedToolRegistry>();
    holds<ReadAggregator, AggregatorServer, DocumentedAggregatorServer>();
    holds<DocumentedCliArgs, CliArgs, DocumentedCliArgs>();
    // An environment as Node has it is accepted, too.
    holds<{ env: Record<string, string | undefined> }, ExpansionContext, DocumentedExpansionContext>();
    holds<DocumentedExpansionResult<string>, ExpansionResult<string>, DocumentedExpansionResult<string>>();
    holds<DocumentedValidationError, ValidationError, DocumentedValidationError>();
    holds<DocumentedConfigValidation, ConfigValidation, DocumentedConfigValidation>();
  });

  verifies('AGG-API-1', 'the documented functions have our types', () => {
    type Registry = DocumentedToolRegistry;
    const functions: {
      addServerTools(
        registry: Registry,
        serverKey: string,
        client: DocumentedClient,
        tools: DocumentedToolSchema[],
        separator?: string,
      ): void;
      removeServerTools(registry: Registry, serverKey: string): void;
      lookupTool(registry: Registry, prefixedName: string): DocumentedToolRegistryEntry | undefined;
      expandEnvVar(value: string, context: DocumentedExpansionContext): DocumentedExpansionResult<string>;
      expandConfigEnvVars(
        obj: unknown,
        context: DocumentedExpansionContext,
      ): DocumentedExpansionResult<unknown>;
      validateConfig(config: unknown): DocumentedConfigValidation;
      validateToolName(name: string): boolean;
      validateSeparator(separator: string): void;
      parseToolPrefix(
        prefixedName: string,
        separator?: string,
      ): { serverKey: string; toolName: string } | null;
    } = {
      addServerTools,
      removeServerTools,
      lookupTool,
      expandEnvVar,
      expandConfigEnvVars,
      validateConfig,
      validateToolName,
      validateSeparator,
      parseToolPrefix,
    };
    expect(Object.keys(functions)).toHaveLength(9);
  });

  verifies('AGG-API-1', 'the documented errors have our types', () => {
    interface DocumentedConfigError extends Error {
      readonly code: ConfigErrorCode;
      readonly details?: unknown;
    }
    interface DocumentedChildServerError extends Error {
      readonly serverKey: string;
      readonly phase: ErrorPhase;
      readonly cause?: Error;
    }
    const config: new (
      message: string,
      code: 'file_not_found' | 'invalid_json' | 'invalid_schema' | 'missing_env_var',
      details?: unknown,
    ) => DocumentedConfigError = ConfigError;
    const child: new (
      message: string,
      serverKey: string,
      phase: 'startup' | 'initialization' | 'runtime',
      cause?: Error,
    ) => DocumentedChildServerError = ChildServerError;
    expect(new config('x', 'invalid_json', { line: 1 })).toMatchObject({
      name: 'ConfigError',
      message: 'x',
      code: 'invalid_json',
      details: { line: 1 },
    });
    const cause = new Error('y');
    expect(new child('x', 'key', 'startup', cause)).toMatchObject({
      name: 'ChildServerError',
      message: 'x',
      serverKey: 'key',
      phase: 'startup',
      cause,
    });
  });

  verifies('AGG-API-1', 'the documented samples compile', async () => {
    const client: ServerClient = {
      callTool: async ({ name, arguments: args }) => ({ content: [], name, args }),
      listTools: async () => ({ tools: [{ name: 'search_code', inputSchema: { type: 'object' } }] }),
    };
    const registry: ToolRegistry = new Map();
    const { tools } = await client.listTools();
    addServerTools(registry, 'sourcebot', client, tools);
    const listed = Array.from(registry.values()).map((entry) => entry.schema);
    expect(listed).toEqual([{ name: 'sourcebot:search_code', inputSchema: { type: 'object' } }]);
    const entry = lookupTool(registry, 'sourcebot:search_code');
    expect(await entry?.client.callTool({ name: entry.originalName, arguments: { q: 1 } })).toMatchObject({
      name: 'search_code',
      args: { q: 1 },
    });
  });
});

interface DocumentedServerHealthStatus {
  serverId: string;
  connectionState: 'disconnected' | 'connecting' | 'connected' | 'error';
  lastPingAt?: number;
  pingLatency?: number;
  consecutiveFailures: number;
  retryState: {
    isRetrying: boolean;
    currentAttempt: number;
    nextRetryAt?: number;
    backoffIntervals: number[];
  };
  autoDisabledAt?: number;
}

interface DocumentedExecutionTracker {
  concurrentLimit: number;
  sessionLimit: number;
  activeExecutions: Set<string>;
  totalExecuted: number;
  stopped: boolean;
  executionHistory: {
    requestId: string;
    serverId: string;
    toolName: string;
    timestamp: number;
    duration: number;
    status: 'success' | 'error';
  }[];
  canExecute(): boolean;
}

interface DocumentedToolExecutionResult {
  content: unknown;
  contentType: 'text' | 'json' | 'markdown' | 'image';
  executionDuration: number;
  tokensUsed?: number;
  displayFormat?: 'inline' | 'block' | 'collapsed';
}

interface DocumentedToolInvocationRequest {
  id: string;
  serverId: string;
  toolName: string;
  parameters: Record<string, unknown>;
  source: 'user-codeblock' | 'ai-autonomous';
  documentPath: string;
  sectionLine?: number;
  status: 'pending' | 'executing' | 'success' | 'error' | 'timeout' | 'cancelled';
  submittedAt: number;
  startedAt?: number;
  completedAt?: number;
  retryAttempt: number;
  maxRetries: number;
  result?: DocumentedToolExecutionResult;
  /** Ruling HEALTH-4: its members, which the documents leave open. */
  error?: { message: string; code?: number; data?: unknown };
}

/** Rulings HEALTH-4 and HEALTH-7: more sources; a path only for documents; parameters only on demand. */
type ReadToolInvocationRequest = With<
  DocumentedToolInvocationRequest,
  {
    source: DocumentedToolInvocationRequest['source'] | 'mcp-client' | 'cli' | 'console' | 'program';
    documentPath?: string;
    parameters?: Record<string, unknown>;
  }
>;

interface DocumentedSectionBinding {
  sectionType: 'heading' | 'block' | 'range';
  headingText?: string;
  blockId?: string;
  startLine?: number;
  endLine?: number;
  serverId: string;
  inheritToChildren: boolean;
}

interface DocumentedMCPServerConfig {
  id: string;
  name: string;
  transport: 'stdio' | 'sse';
  deploymentType: 'managed' | 'external';
  dockerConfig?: {
    image: string;
    containerName: string;
    command?: string[];
    ports?: { [key: string]: number };
  };
  sseConfig?: { url: string };
  enabled: boolean;
  lastConnectedAt?: number;
  failureCount: number;
  autoDisabled: boolean;
  sectionBindings: DocumentedSectionBinding[];
}

/** Rulings MANAGED-4 and MANAGED-5: Streamable HTTP; a `command` alone has no `deploymentType`. */
type ReadMCPServerConfig = With<
  DocumentedMCPServerConfig,
  { transport: 'stdio' | 'sse' | 'streamable-http'; deploymentType?: 'managed' | 'external' }
>;

describe('the documented types of supervision', () => {
  verifies('HEALTH-8', 'the documented types of supervision match ours in both directions', () => {
    holds<DocumentedServerHealthStatus, ServerHealthStatus, DocumentedServerHealthStatus>();
    holds<DocumentedExecutionTracker, ExecutionTracker, DocumentedExecutionTracker>();
    holds<DocumentedToolExecutionResult, ToolExecutionResult, DocumentedToolExecutionResult>();
    holds<ReadToolInvocationRequest, ToolInvocationRequest, DocumentedToolInvocationRequest>();
    holds<DocumentedSectionBinding, SectionBinding, DocumentedSectionBinding>();
    holds<ReadMCPServerConfig, MCPServerConfig, DocumentedMCPServerConfig>();
  });
});
