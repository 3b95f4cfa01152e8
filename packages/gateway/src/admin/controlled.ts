import type { Gateway } from '../gateway.ts';
import type { Place } from './control-folder.ts';
import type { Control } from './control.ts';
import type { Self } from './requests.ts';

/** The first answers go before. */
const AFTER_MS = 50;

/** Lets the owner of a gateway speak to it, once its servers have been started; what that needs is loaded then. */
export function controlled(gateway: Gateway, self: Self, place: Place): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  let opening: Promise<Control | undefined> | undefined;
  let isClosed = false;
  const open = async (): Promise<Control | undefined> => {
    try {
      const { openControl } = await import('./control.ts');
      return await openControl(gateway, self, place);
    } catch (error) {
      gateway.log.warn(`"weir ps" will not find this gateway: ${(error as Error).message}`);
      return undefined;
    }
  };
  gateway.settled.then(
    () => {
      if (isClosed) return;
      timer = setTimeout(() => {
        opening = open();
      }, AFTER_MS).unref();
    },
    () => {},
  );
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await (await opening)?.close();
    },
  };
}
