import type { InvocationSource } from '../call/history/invocation.ts';
import { InProcessClient } from '../call/in-process-client.ts';
import type { ToolSchema } from '../upstream/catalogue/catalogue.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Parts } from './wiring.ts';

/** The tools of one group, for a program. */
export interface GroupTools {
  listTools(): Promise<ToolSchema[]>;
  /** Calls a tool by its public name; the arguments and the source are those of `Gateway.callTool`. */
  callTool(tool: string, args?: Record<string, unknown>, source?: InvocationSource): Promise<unknown>;
}

export interface ProgramCall {
  readonly tool: string;
  readonly args: Record<string, unknown> | undefined;
  readonly source: InvocationSource | undefined;
}

/** Lists and calls tools for the program that has created the gateway. The first use starts the servers. */
export class ProgramCalls {
  readonly #parts: Parts;
  readonly #lifecycle: Lifecycle;
  readonly #clients = new Map<InvocationSource, InProcessClient>();

  constructor(parts: Parts, lifecycle: Lifecycle) {
    this.#parts = parts;
    this.#lifecycle = lifecycle;
  }

  async callTool(
    group: string | undefined,
    { tool, args = {}, source = 'program' }: ProgramCall,
  ): Promise<unknown> {
    await this.#lifecycle.start();
    const { options, publication } = this.#parts;
    const client = this.#clients.get(source) ?? new InProcessClient(source, options.clientInfo);
    this.#clients.set(source, client);
    return client.callTool(publication.view(group).snapshot, tool, args);
  }

  async listTools(group: string | undefined): Promise<ToolSchema[]> {
    await this.#lifecycle.start();
    return Array.from(this.#parts.publication.view(group).registry.tools.values(), (route) => route.schema);
  }

  group(name: string): GroupTools {
    this.#parts.publication.view(name);
    return {
      listTools: () => this.listTools(name),
      callTool: (tool, args, source) => this.callTool(name, { tool, args, source }),
    };
  }

  canExecute(serverKey: string | undefined, source: InvocationSource | undefined): boolean {
    const { callLimits, publication } = this.#parts;
    if (serverKey !== undefined && !publication.whole.registry.upstreams.has(serverKey)) return false;
    return callLimits.canExecute(serverKey, source && this.#clients.get(source));
  }
}
