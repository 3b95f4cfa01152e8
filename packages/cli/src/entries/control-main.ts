import { change, stop } from '../commands/control.ts';
import { history } from '../commands/history.ts';
import { logs } from '../commands/logs.ts';
import { ps } from '../commands/ps.ts';
import { untilWritten } from '../output/until-written.ts';
import { start } from '../run.ts';

start<'control'>({
  ps: untilWritten(ps),
  history: untilWritten(history),
  logs: untilWritten(logs),
  enable: untilWritten(change('enable')),
  disable: untilWritten(change('disable')),
  restart: untilWritten(change('restart')),
  pause: untilWritten(change('pause')),
  resume: untilWritten(change('resume')),
  stop: untilWritten(stop),
  new: untilWritten(async (values, context) => {
    const { create } = await import('../commands/new.ts');
    await create(values, context);
  }),
  completion: untilWritten(async (values, context) => {
    const { completion } = await import('../commands/completion.ts');
    completion(values, context);
  }),
});
