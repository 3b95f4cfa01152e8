import type { Gateway } from '../gateway.ts';
import type { Place } from './control-folder.ts';
import type { Control } from './control.ts';
import type { Self } from './requests.ts';

/** The first answers go before. */
const AFTER_MS = 10;
/** A start that takes longer than this is one that people want to look at. */
const AT_LATEST_MS = 1000;

/** Lets the owner of a gateway speak to it, once its servers have been started or take their time; what that needs is loaded then. */
export function controlled(gateway: Gateway, self: Self, place: Place): { close(): Promise<void> } {
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
  const openAfter = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      if (!isClosed) opening ??= open();
    }, ms).unref();
  const latest = openAfter(AT_LATEST_MS);
  gateway.settled.then(
    () => void openAfter(AFTER_MS),
    () => clearTimeout(latest),
  );
  return {
    async close() {
      isClosed = true;
      clearTimeout(latest);
      await (await opening)?.close();
    },
  };
}
