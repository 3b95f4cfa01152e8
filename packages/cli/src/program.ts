import type { CliArgs } from '@weir/gateway';

/** Version of the product; the build replaces it with the real one. */
declare const WEIR_VERSION: string | undefined;

/** Name of the bin that was started. Each bin passes its own, because argv does not hold it behind a shim on Windows. */
declare const PROGRAM_NAME: ProgramName | undefined;

export const VERSION: string = typeof WEIR_VERSION === 'string' ? WEIR_VERSION : '0.0.0-source';

export type ProgramName = 'weir' | 'mcp-weir' | 'mcp-simple-aggregator';

/** The command under one of its names. */
export interface Program {
  /** Name in usage, errors and hints. */
  readonly name: ProgramName;
  /** Values of options that the command line does not set. */
  readonly defaults: Required<Pick<CliArgs, 'separator' | 'keepGoing' | 'name' | 'version'>>;
  /** Lists a status tool while a server is away. */
  readonly statusTool: boolean;
}

/** Defaults for hosts: names that all hosts accept, and tools even if one server fails. */
const FOR_HOSTS: Omit<Program, 'name'> = {
  defaults: { separator: '__', keepGoing: true, name: 'weir', version: VERSION },
  statusTool: true,
};

/** Defaults that existing setups of `mcp-simple-aggregator` rely on. */
const FOR_COMPATIBILITY: Omit<Program, 'name'> = {
  defaults: { separator: ':', keepGoing: false, name: 'mcp-simple-aggregator', version: '1.0.0' },
  statusTool: false,
};

export function programNamed(name: ProgramName): Program {
  return { name, ...(name === 'mcp-simple-aggregator' ? FOR_COMPATIBILITY : FOR_HOSTS) };
}

export const PROGRAM: Program = programNamed(typeof PROGRAM_NAME === 'string' ? PROGRAM_NAME : 'weir');
