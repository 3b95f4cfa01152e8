// The commands that change a running gateway: enable, disable, restart, pause, resume, stop.
import { askGateway, endGateway, type GatewayReport } from '@weir/gateway';
import type { Context, Run } from '../context.ts';
import { CliError } from '../errors.ts';
import { answered, gatewaysToChange, gatewaysWith } from '../find-gateways.ts';
import { printable } from '../output/text-table.ts';
import type { Values } from '../values.ts';

type Action = 'enable' | 'disable' | 'restart' | 'pause' | 'resume';

const DONE: Readonly<Record<Action, (server: string, program: string) => string>> = {
  enable: (server) => `Server '${server}' is enabled`,
  disable: (server, program) => `Server '${server}' is disabled until ${program} enable ${server}`,
  restart: (server) => `Server '${server}' was restarted`,
  pause: (_, program) => `Calls are paused until ${program} resume`,
  resume: () => 'Calls are accepted again',
};

/** Returns the command that changes a server, or all calls, of the chosen gateways. */
export function change(action: Action): Run {
  return async (values, context) => {
    const { argument: server = '', json } = values;
    const { output, program } = context;
    const found = await gatewaysToChange(action, values, context);
    // A gateway that serves a group may lack the server that others with this config run.
    for (const { socketPath } of values.argument === undefined ? found : gatewaysWith(server, found)) {
      await carriedOut(socketPath.pid, askGateway(socketPath, action, { server }));
      const report = await answered(askGateway(socketPath, 'ps', {}));
      const problem = whyNotRunning(action, report, server);
      if (action === 'restart' && problem !== undefined)
        throw new CliError(
          `Server '${server}' was stopped and did not start again (gateway ${socketPath.pid}): ${problem}`,
        );
      const remark = problem === undefined ? '' : ` It is not running yet: ${problem}`;
      if (json)
        output.write(
          `${JSON.stringify({ pid: socketPath.pid, done: action, ...afterwards(report, server) })}\n`,
        );
      else output.write(`${DONE[action](server, program.name)} (gateway ${socketPath.pid}).${remark}\n`);
    }
  };
}

/** Stops the chosen gateways; a host may start its own again. */
export async function stop(values: Values, context: Context): Promise<void> {
  const { output } = context;
  for (const { socketPath, report } of await gatewaysToChange('stop', values, context)) {
    await carriedOut(socketPath.pid, endGateway(socketPath));
    if (values.json) output.write(`${JSON.stringify({ pid: socketPath.pid, done: 'stop' })}\n`);
    else
      output.write(
        `Gateway ${socketPath.pid} has stopped (${report?.mode}, ${printable(report?.configPath ?? 'no config file')}).\n`,
      );
  }
}

/** Waits for a change; explains the error of an older gateway that does not support it. */
async function carriedOut<T>(pid: number, order: Promise<T>): Promise<T> {
  try {
    return await answered(order);
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes('does not know')) throw error;
    const remedy = `Gateway ${pid} is older than this command: stop it with its host or with Ctrl-C, and start it again.`;
    throw new CliError(`${message}. ${remedy}`, { cause: error });
  }
}

function afterwards({ isStopped, servers }: GatewayReport, server: string): object {
  const now = servers.find(({ id }) => id === server);
  return now === undefined ? { isStopped } : { server: now };
}

/** Returns why the server is not running, if it should be. */
function whyNotRunning(action: Action, { servers }: GatewayReport, server: string): string | undefined {
  const { health, lastError = '' } = servers.find(({ id }) => id === server) ?? {};
  const shouldRun = action === 'enable' || action === 'restart';
  if (!shouldRun || health === undefined || health.connectionState === 'connected') return undefined;
  return lastError === '' ? health.connectionState : lastError;
}
