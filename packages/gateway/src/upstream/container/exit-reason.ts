import type { Exit, ServerProcess } from '../process/spawn.ts';
import type { ContainerSpec } from './container-spec.ts';
import { explainEngine, takenPort, type Engine } from './engine.ts';

interface Ended {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly engine: Engine;
  /** Milliseconds since 1970. */
  readonly began: number;
}

/** Milliseconds that the engine may take to explain an exit. */
const INSPECT_TIMEOUT_MS = 5000;
/** Exit code of a container that got SIGKILL. */
const KILLED = 137;

/** The exit of a container's command, with the reason where the engine knows one that the exit code does not tell. */
export async function explainedExit(command: ServerProcess, ended: Ended): Promise<Exit> {
  const exit = await command.exited;
  const why = await reason(exit, command.stderrTail().join('\n'), ended).catch(() => undefined);
  return why === undefined ? exit : { ...exit, why };
}

async function reason({ code }: Exit, stderr: string, ended: Ended): Promise<string | undefined> {
  if (code === KILLED) return (await ranOutOfMemory(ended)) ? outOfMemory(ended.spec) : undefined;
  const taken = takenPort(stderr);
  if (taken !== undefined) return portTaken(taken, ended.engine);
  if (/^Error response from daemon:|^\[FATAL tini/m.test(stderr))
    return `could not be started: ${explainEngine(stderr).message}`;
  return undefined;
}

/** By then the container is removed, but the engine remembers what happened to it. */
async function ranOutOfMemory({ id, engine, began }: Ended): Promise<boolean> {
  const [since, until] = [began - 5000, Date.now()].map((ms) => (ms / 1000).toFixed(3));
  const filters = [`--filter=container=${id}`, '--filter=event=oom', '--format={{.Action}}'];
  const asked = ['events', `--since=${since}`, `--until=${until}`, ...filters];
  const events = await engine.ask(asked, { timeoutMs: INSPECT_TIMEOUT_MS });
  return events !== '';
}

function outOfMemory({ docker }: ContainerSpec): string {
  return `was killed because it used more memory than its limit of ${docker.memory ?? '2g'}; raise "memory" in its dockerConfig`;
}

async function portTaken({ port, by }: { port: number; by: string }, engine: Engine): Promise<string> {
  const remedy = 'choose another host port in "ports" (0 takes one that is free)';
  if (by === 'program')
    return `could not be started: port ${port} on 127.0.0.1 is taken by a program on this machine; end that, or ${remedy}`;
  const names = await engine
    .ask(['ps', `--filter=publish=${port}`, '--format={{.Names}}'], { timeoutMs: INSPECT_TIMEOUT_MS })
    .catch(() => '');
  const holder = names === '' ? 'another container' : `the container ${names.split('\n').join(', ')}`;
  return `could not be started: port ${port} on 127.0.0.1 is taken by ${holder}; stop that, or ${remedy}`;
}
