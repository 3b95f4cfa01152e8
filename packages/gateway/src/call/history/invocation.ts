/** Kind of caller. */
export type InvocationSource =
  | 'user-codeblock'
  | 'ai-autonomous'
  | 'mcp-client'
  | 'cli'
  | 'console'
  /** A program that uses the gateway as a library. */
  | 'program';

export type InvocationStatus = 'pending' | 'executing' | FinalStatus;
export type FinalStatus = 'success' | 'error' | 'timeout' | 'cancelled';

export interface ErrorInfo {
  readonly message: string;
  readonly code?: number;
  readonly data?: unknown;
}

/** The client of the protocol that asked for a call, as it calls itself. */
export interface InvokingClient {
  readonly name: string;
  readonly version: string;
}

/** Output of a call that succeeded. */
export interface ToolExecutionResult {
  /** Undefined where it is not kept: in the files of the history, and in memory once a budget is spent. */
  readonly content: unknown;
  readonly contentType: 'text' | 'json' | 'markdown' | 'image';
  /** Milliseconds, at least 1. */
  readonly executionDuration: number;
  /** Present where the result's `_meta` reports it. */
  readonly tokensUsed?: number;
  readonly displayFormat?: 'inline' | 'block' | 'collapsed';
}

/** One call of a tool, from the moment it was asked for. Times are milliseconds since 1970. */
export interface ToolInvocationRequest {
  /** A UUID. */
  readonly id: string;
  /** The key of the server; empty where the name led to none. */
  readonly serverId: string;
  /** Name of the tool on its server, without a prefix. */
  readonly toolName: string;
  /** Present where the user has turned the recording of arguments on. */
  readonly parameters?: Record<string, unknown>;
  readonly source: InvocationSource;
  /** Present where the call came from a client that says who it is. */
  readonly client?: InvokingClient;
  /** For calls from documents. */
  readonly documentPath?: string;
  readonly sectionLine?: number;
  readonly status: InvocationStatus;
  readonly submittedAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  /** 0 is the first attempt. */
  readonly retryAttempt: number;
  /** 3 where the call may be repeated, else 0. */
  readonly maxRetries: number;
  readonly result?: ToolExecutionResult;
  readonly error?: ErrorInfo;
}

/** Limits and past calls of one session. */
export interface ExecutionTracker {
  readonly concurrentLimit: number;
  /** -1 means unlimited. */
  readonly sessionLimit: number;
  readonly activeExecutions: Set<string>;
  readonly totalExecuted: number;
  /** True while the user has paused all calls. */
  readonly stopped: boolean;
  readonly executionHistory: {
    readonly requestId: string;
    readonly serverId: string;
    readonly toolName: string;
    readonly timestamp: number;
    readonly duration: number;
    readonly status: 'success' | 'error';
  }[];
  canExecute(): boolean;
}
