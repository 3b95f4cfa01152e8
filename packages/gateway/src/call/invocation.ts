/** Who has asked for a call. */
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

/** One call of a tool, from the moment it was asked for. Times are milliseconds since 1970. */
export interface ToolInvocationRequest {
  readonly id: string;
  /** The key of the server; empty where the name led to none. */
  readonly serverId: string;
  /** What the server calls the tool. */
  readonly toolName: string;
  /** Kept only where somebody has asked for that. */
  readonly parameters?: Record<string, unknown>;
  readonly source: InvocationSource;
  /** For calls from documents. */
  readonly documentPath?: string;
  readonly sectionLine?: number;
  readonly status: InvocationStatus;
  readonly submittedAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  /** 0 is the first attempt. */
  readonly retryAttempt: number;
  readonly maxRetries: number;
  readonly result?: unknown;
  readonly error?: ErrorInfo;
}

/** What limits the calls of one session, and what it has done so far. */
export interface ExecutionTracker {
  readonly concurrentLimit: number;
  /** -1 is no limit. */
  readonly sessionLimit: number;
  readonly activeExecutions: Set<string>;
  readonly totalExecuted: number;
  /** Somebody has asked to stop: nothing new begins. */
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
