import { askGateway, followGateway, type FoundGateway, type LoggedLine } from '@weir/gateway';
import type { Context } from '../context.ts';
import { answered, gatewaysWith, runningGateways, silentAmong } from '../find-gateways.ts';
import { clock } from '../output/gateways.ts';
import { asJson, printable } from '../output/text-table.ts';
import type { Values } from '../values.ts';

/** Prints the last lines that a server wrote to stderr, for each gateway that has it. */
export async function logs(values: Values, context: Context): Promise<void> {
  const { argument: server = '', json } = values;
  const { output } = context;
  const found = await runningGateways(values, context);
  const having = gatewaysWith(server, found);
  if (values.follow) return follow(having, values, context);
  const all = await Promise.all(
    having.map(async ({ socketPath }) => ({
      pid: socketPath.pid,
      lines: await answered(askGateway(socketPath, 'logs', { server })),
    })),
  );
  if (json) return void output.write(asJson(all));
  const isOne = all.length === 1;
  for (const { pid, lines } of all)
    output.write(`${isOne ? '' : `Gateway ${pid}\n`}${shownLines(lines, server)}`);
  for (const pid of silentAmong(found)) output.write(`Gateway ${pid} does not answer\n`);
}

/** Prints the lines so far, then each further one, until Ctrl-C or the end of all these gateways. */
async function follow(having: readonly FoundGateway[], values: Values, context: Context): Promise<void> {
  const { argument: server = '', json } = values;
  const isOne = having.length === 1;
  const print = (pid: number, line: LoggedLine): void => {
    const { at, text } = line;
    const shown = `${isOne ? '' : `[${pid}] `}${clock(at)}  ${printable(text)}`;
    context.output.write(`${json ? JSON.stringify({ pid, at, text }) : shown}\n`);
  };
  const gone = having.map(({ socketPath }) => {
    const { pid } = socketPath;
    return answered(
      followGateway(
        socketPath,
        'logs',
        { server },
        {
          answered: (lines) => lines.forEach((line) => print(pid, line)),
          happened: (event) => event.type === 'server-log' && print(pid, event),
        },
      ),
    );
  });
  await Promise.race([Promise.all(gone), context.stopped()]);
}

function shownLines(lines: readonly LoggedLine[], server: string): string {
  if (lines.length === 0) return `Server '${server}' has written nothing to stderr.\n`;
  return lines.map(({ at, text }) => `${clock(at)}  ${printable(text)}\n`).join('');
}
