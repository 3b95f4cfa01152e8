import { randomBytes } from 'node:crypto';
import type { ServerConfig } from '../../config/config.generated.ts';
import { checkContainer } from '../../config/container-rules.ts';
import { createFindings } from '../../config/findings.ts';
import { formatLocation } from '../../config/json/json-path.ts';
import { inTime } from '../../time/timeouts.ts';
import type { Connection, OpenOptions, Stoppable } from '../connection.ts';
import { CHAIN_VARIABLE } from '../gateway-chain.ts';
import { STOP_TIMING } from '../process/process-group.ts';
import { spawnServer, type ServerProcess } from '../process/spawn.ts';
import { AttachedConnection } from './container-connection.ts';
import { PublishedConnection } from './container-http-connection.ts';
import { containerSpec, type ContainerSpec } from './container-spec.ts';
import type { Containers } from './containers.ts';
import { createArguments } from './create-arguments.ts';
import { EngineError } from './engine.ts';
import { handOver } from './env-file.ts';
import { explainedExit } from './exit-reason.ts';
import { labelsOf, NAME_LABEL, SERVER_LABEL } from './owner.ts';
import { refuseUnsafeMounts } from './unsafe-mounts.ts';

interface ContainerOptions extends Omit<OpenOptions, 'containers'> {
  readonly containers: Containers;
}

/** A container that is being started; `stop` ends it however far it has come. */
interface StartedContainer extends Stoppable {
  readonly connection: Promise<Connection>;
}

/** Images are large, and registries slow. */
const PULL_MS = 600_000;

/** Starts a server in a container. */
export async function openContainer(options: OpenOptions): Promise<Connection> {
  const containers = await options.containers();
  if (options.isStopped()) throw new Error('was stopped before it was started');
  const container = startContainer({ ...options, containers });
  options.arriving(container);
  return container.connection;
}

function startContainer(options: ContainerOptions): StartedContainer {
  const abort = new AbortController();
  const connection = launch(options, abort.signal);
  connection.catch(() => {});
  return {
    connection,
    async stop(timing = STOP_TIMING) {
      abort.abort();
      // An engine that hangs does not keep us; what it may yet create is found by the next start.
      const started = await inTime(
        timing.eofMs + timing.termMs,
        connection.catch(() => undefined),
      );
      await started?.stop(timing);
    },
  };
}

async function launch(options: ContainerOptions, signal: AbortSignal): Promise<Connection> {
  const spec = containerSpec(options.serverKey, options.config);
  const { containers } = options;
  judgeContainer(options.config, containers.engine.env);
  await containers.ready();
  if (spec.docker.pull === 'always') await pull(spec, options, signal);
  const id = await createOrPull(spec, options, signal);
  try {
    signal.throwIfAborted();
    return await attach(id, spec, { ...options, signal });
  } catch (error) {
    await containers.engine.remove(id).catch(() => {});
    throw error;
  }
}

async function createOrPull(
  spec: ContainerSpec,
  options: ContainerOptions,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await create(spec, options);
  } catch (error) {
    const isMissing = error instanceof EngineError && /no such image|image not known/i.test(error.said);
    if (!isMissing || spec.docker.pull === 'never') throw error;
    await pull(spec, options, signal);
    return create(spec, options);
  }
}

async function pull(
  { image }: ContainerSpec,
  { containers, log }: ContainerOptions,
  signal: AbortSignal,
): Promise<void> {
  log.info(`pulls the image ${image}`);
  try {
    await containers.engine.ask(['pull', '--quiet', '--', image], { timeoutMs: PULL_MS, signal });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new EngineError(
      `there is no image "${image}" here, and it could not be pulled (${error.said.trim().split('\n').at(-1) ?? ''}); check its name, or build it`,
      error.said,
    );
  }
}

/** Creates the container under the wanted name, or under one beside it where another container has that. */
async function create(spec: ContainerSpec, options: ContainerOptions): Promise<string> {
  const { name } = spec;
  try {
    return await createAs(name, spec, options);
  } catch (error) {
    if (!(error instanceof EngineError) || !/name .* is already in use/is.test(error.said)) throw error;
    const other = `${name}-${someLetters()}`;
    // Two gateways with one config are nothing to report; a name that the config asks for is.
    const text = `is named ${other}: another container is named ${name}`;
    if (spec.docker.containerName === undefined) options.log.debug?.(text);
    else options.log.info(text);
    return createAs(other, spec, options);
  }
}

async function createAs(name: string, spec: ContainerSpec, options: ContainerOptions): Promise<string> {
  const { containers, serverKey, slots } = options;
  const variables = handOver(variablesOf(options), containers.engine.env);
  const labels = { [SERVER_LABEL]: serverKey, [NAME_LABEL]: name, ...labelsOf(containers.self) };
  const release = await slots.acquire();
  try {
    const args = createArguments(spec, { name, labels, variables: variables.args });
    const { env, stdin } = variables;
    const printed = await containers.engine.ask(args, { env, ...(stdin !== undefined && { stdin }) });
    return printed.split('\n').at(-1) ?? name;
  } finally {
    variables.close();
    release();
  }
}

/** Its own `env` and what the entry names of ours; the short list of other servers would replace its PATH and HOME. */
function variablesOf({ config, environmentOf }: ContainerOptions): Record<string, string> {
  const { env = {}, inheritEnv } = config;
  const named = Array.isArray(inheritEnv) ? inheritEnv : [];
  const names = new Set([CHAIN_VARIABLE, ...Object.keys(env), ...named]);
  return Object.fromEntries(Object.entries(environmentOf(config)).filter(([name]) => names.has(name)));
}

/** Starts what was created, with a command that stays for as long as the container runs: its end is the server's. */
async function attach(
  id: string,
  spec: ContainerSpec,
  options: ContainerOptions & { readonly signal: AbortSignal },
): Promise<Connection> {
  const { containers, guard, log } = options;
  const { engine } = containers;
  const args = ['start', '--attach', ...(spec.http === undefined ? ['--interactive'] : []), id];
  const began = Date.now();
  const command = await spawnServer(
    { command: engine.command, args, env: engine.env },
    { guard: guard(), onStderrLine: (line) => log.info(line) },
  );
  const process: ServerProcess = { ...command, exited: explainedExit(command, { id, spec, engine, began }) };
  log.debug?.(`started as container ${id.slice(0, 12)}`);
  const container = { id, engine, process };
  return spec.http === undefined
    ? new AttachedConnection(container, options)
    : PublishedConnection.open(container, spec.http, options);
}

function someLetters(): string {
  return randomBytes(4).toString('hex');
}

/** Applies the rules for containers to the values that are about to run, whichever way they came here. */
function judgeContainer(config: ServerConfig, env: Readonly<Record<string, string>>): void {
  const found = createFindings(true);
  checkContainer({ ...config }, [], found);
  const [mistake] = found.errors;
  if (mistake !== undefined)
    throw new EngineError(`its "${formatLocation(mistake.path)}" is refused. ${mistake.message}`);
  const { volumes = [], allowUnsafeMounts = false } = config.dockerConfig ?? {};
  if (!allowUnsafeMounts) refuseUnsafeMounts(volumes, env);
}
