import type { CliArgs } from '@weir/gateway';
import { VERSION } from './version.ts';

/** The name of the bin that was started; the entry file of each bin passes its own. Shims on Windows hide it in argv. */
declare const PROGRAM_NAME: ProgramName | undefined;

export type ProgramName = 'weir' | 'mcp-weir' | 'mcp-simple-aggregator';

/** The command under one of its names. */
export interface Program {
  /** For usage, errors and hints. */
  readonly name: ProgramName;
  /** Values of options that the command line does not give. */
  readonly defaults: Required<Pick<CliArgs, 'separator' | 'keepGoing' | 'name' | 'version'>>;
  /** Lists a tool that tells which servers are away, while one is. */
  readonly statusTool: boolean;
}

/** Defaults that hosts need: names that all of them accept, and tools even where one server fails. */
const FOR_HOSTS: Omit<Program, 'name'> = {
  defaults: { separator: '__', keepGoing: true, name: 'weir', version: VERSION },
  statusTool: true,
};

/** Defaults that hosts and scripts rely on which were set up for `mcp-simple-aggregator`. */
const FOR_COMPATIBILITY: Omit<Program, 'name'> = {
  defaults: { separator: ':', keepGoing: false, name: 'mcp-simple-aggregator', version: '1.0.0' },
  statusTool: false,
};

export function programNamed(name: ProgramName): Program {
  return { name, ...(name === 'mcp-simple-aggregator' ? FOR_COMPATIBILITY : FOR_HOSTS) };
}

export const PROGRAM: Program = programNamed(typeof PROGRAM_NAME === 'string' ? PROGRAM_NAME : 'weir');
