import { followGateway, type FoundGateway } from '@weir/gateway';
import type { Context } from '../context.ts';
import { chosenGateways, runningGateways, silentAmong } from '../find-gateways.ts';
import { showGateways } from '../output/gateways.ts';
import { asJson, looksOf } from '../output/text-table.ts';
import type { Values } from '../values.ts';

/** Milliseconds between two looks for gateways that have started; counters and times are redrawn with it. */
const LOOK_AGAIN_MS = 1000;
/** Milliseconds within which several events are one change on the screen. */
const GATHER_MS = 100;
/** Moves to the upper left corner and clears the screen from there. */
const CLEAR = '\u001B[H\u001B[2J';

/** Lists the running gateways with their servers. */
export async function ps(values: Values, context: Context): Promise<void> {
  if (values.watch) return watch(values, context);
  // For a program an empty list is an answer; a person needs to know how to start a gateway.
  const found = await (values.json ? chosenGateways : runningGateways)(values, context);
  context.output.write(shown(found, values, context));
}

/** Shows the list again whenever it changes: on a terminal in place, elsewhere one after the other. */
async function watch(values: Values, context: Context): Promise<void> {
  const { output } = context;
  const isInPlace = output.isTTY === true && values.json !== true;
  const followed = new Set<string>();
  let last = '';
  let isOver = false;
  let wake = (): void => {};
  const follow = ({ socketPath: { path, pid } }: FoundGateway): void => {
    if (followed.has(path)) return;
    followed.add(path);
    const gone = followGateway({ path, pid }, 'ps', {}, { answered() {}, happened: () => wake() });
    void gone.catch(() => {}).then(() => followed.delete(path) && wake());
  };
  void context.stopped().then(() => {
    isOver = true;
    wake();
  });
  while (!isOver) {
    const found = await chosenGateways(values, context);
    found.filter(({ report }) => report !== undefined).forEach(follow);
    // Without a terminal, a time that passes is not a change.
    const state = shown(found, values, isInPlace ? context : { ...context, now: () => 0 });
    if (state !== last) output.write((isInPlace ? CLEAR : '') + shown(found, values, context));
    last = state;
    await new Promise<void>((resolve) => {
      const again = setTimeout(resolve, LOOK_AGAIN_MS);
      wake = () => {
        clearTimeout(again);
        setTimeout(resolve, GATHER_MS);
      };
    });
  }
}

function shown(found: readonly FoundGateway[], values: Values, context: Context): string {
  const { now, program } = context;
  const reports = found.map(({ report }) => report).filter((report) => report !== undefined);
  const silent = silentAmong(found);
  const all = [...reports, ...silent.map((pid) => ({ pid, answers: false }))];
  if (values.json) return values.watch ? `${JSON.stringify(all)}\n` : asJson(all);
  if (all.length === 0) return 'No gateway is running.\n';
  const table = showGateways(reports, { ...looksOf(context), now: now(), program });
  return table + silent.map((pid) => `Gateway ${pid} does not answer\n`).join('');
}
