import { readArguments, type Flag, type Given } from './read-arguments.ts';
import {
  readBoolean,
  readHost,
  readLogLevel,
  readPort,
  readRedirectUri,
  type Setting,
  type Understood,
} from './settings.ts';
import type { ParsedTransportConfig, TransportConfig } from './transport-config.ts';

export interface ParseConfigOptions {
  /** Flags of the server itself, such as `--db` or `db`, which are passed over with their values. */
  readonly known?: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Arguments and environment of one reading, and the mistakes in them. */
interface Input {
  readonly given: Given;
  readonly env: Variables;
  readonly mistakes: string[];
}

/**
 * Reads the options of a server from its arguments and its environment. Arguments beat variables, and an empty variable is
 * as good as none. Throws one Error that names every mistake.
 */
export function parseConfig(
  args: readonly string[],
  env: Variables,
  { known = [] }: ParseConfigOptions = {},
): ParsedTransportConfig {
  const mistakes: string[] = [];
  const input: Input = { given: readArguments(args, known, mistakes), env, mistakes };
  const transport = transportOf(input);
  const logLevel = read(input, setting(input, '--log-level', 'LOG_LEVEL'), readLogLevel);
  const redirect = setting(input, '--redirect-uri', 'REDIRECT_URI');
  const redirectUrl = read(input, redirect, readRedirectUri);
  const headless = isHeadless(input, redirect !== undefined);
  throwMistakes(mistakes);
  return {
    transport,
    headless,
    ...(logLevel !== undefined && { logLevel }),
    ...(redirect && redirectUrl && { redirectUri: redirect.text, redirectUrl }),
    ...(transport.type === 'http' && { port: transport.port }),
  };
}

/** A variable does not speak against `--stdio`, and HOST alone asks for no HTTP: many machines have it for other reasons. */
function transportOf(input: Input): TransportConfig {
  const { given, env, mistakes } = input;
  const isStdio = given.has('--stdio');
  const ofHttp = (['--port', '--host'] as const).filter((flag) => given.has(flag));
  if (ofHttp.length === 0 && (isStdio || isEmpty(env['PORT']))) return { type: 'stdio' };
  if (isStdio)
    mistakes.push(`--stdio and ${ofHttp.join(' and ')} exclude each other: a server has one transport`);
  const source = isStdio ? { ...input, env: {} } : input;
  const port = portOf(source);
  const host = read(source, setting(source, '--host', 'HOST'), readHost);
  // A port that could not be read is never seen: there is a mistake.
  return { type: 'http', port: port ?? 0, ...(host !== undefined && { host }) };
}

function portOf(input: Input): number | undefined {
  const isArgument = input.given.has('--port');
  const text = isArgument ? input.given.get('--port') : input.env['PORT'];
  if (!isEmpty(text)) return read(input, { name: isArgument ? '--port' : 'PORT', text }, readPort);
  // With both transports that is the mistake, and not a missing port.
  if (isArgument || !input.given.has('--stdio'))
    input.mistakes.push(
      'Port is required for HTTP transport: give --port or PORT a whole number from 1 to 65535',
    );
  return undefined;
}

function isHeadless(input: Input, hasRedirect: boolean): boolean {
  const { given, env } = input;
  if (given.has('--no-headless')) return false;
  if (given.has('--headless')) {
    const text = given.get('--headless');
    return text === undefined || (read(input, { name: '--headless', text }, readBoolean) ?? false);
  }
  const text = env['HEADLESS'];
  const says = isEmpty(text) ? false : read(input, { name: 'HEADLESS', text }, readBoolean);
  return says === true || hasRedirect;
}

/** Returns the argument where it is given, and the variable otherwise. An argument without a value is a mistake. */
function setting(input: Input, flag: Flag, variable: string): Setting | undefined {
  if (input.given.has(flag)) {
    const text = input.given.get(flag);
    if (!isEmpty(text)) return { name: flag, text };
    input.mistakes.push(`${flag} needs a value`);
    return undefined;
  }
  const text = input.env[variable];
  return isEmpty(text) ? undefined : { name: variable, text };
}

function read<Value>(
  { mistakes }: Input,
  found: Setting | undefined,
  understand: (setting: Setting) => Understood<Value>,
): Value | undefined {
  if (found === undefined) return undefined;
  const understood = understand(found);
  if ('value' in understood) return understood.value;
  mistakes.push(understood.mistake);
  return undefined;
}

function isEmpty(text: string | undefined): text is '' | undefined {
  return text === undefined || text === '';
}

function throwMistakes(mistakes: readonly string[]): void {
  const [first] = mistakes;
  if (first === undefined) return;
  throw new Error(
    mistakes.length === 1 ? first : `Invalid options:\n${mistakes.map((text) => `  - ${text}`).join('\n')}`,
  );
}
