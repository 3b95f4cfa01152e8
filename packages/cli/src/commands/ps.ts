import type { Context } from '../context.ts';
import { chosenGateways, runningGateways, silentAmong } from '../find-gateways.ts';
import { showGateways } from '../output/gateways.ts';
import { asJson, looksOf } from '../output/text-table.ts';
import type { Values } from '../values.ts';

/** Lists the running gateways with their servers. */
export async function ps(values: Values, context: Context): Promise<void> {
  const { output, now, program } = context;
  // For a program an empty list is an answer; a person needs to know how to start a gateway.
  const found = await (values.json ? chosenGateways : runningGateways)(values, context);
  const reports = found.map(({ report }) => report).filter((report) => report !== undefined);
  const silent = silentAmong(found);
  if (values.json)
    return void output.write(asJson([...reports, ...silent.map((pid) => ({ pid, answers: false }))]));
  output.write(showGateways(reports, { ...looksOf(context), now: now(), program }));
  for (const pid of silent) output.write(`Gateway ${pid} does not answer\n`);
}
