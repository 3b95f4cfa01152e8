import type { Gateway } from '../gateway/gateway.ts';
import { Deferred } from '../time/deferred.ts';
import type { GatewayInfo } from './control-requests.ts';
import type { SocketLocation } from './socket-paths.ts';
import type { Control } from './socket-server.ts';

interface Controlled {
  /** Resolves when the owner of the gateway wants it to end. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
}

/** The first answers go before. */
const AFTER_MS = 10;
/** A start that takes longer than this is one that people want to look at. */
const AT_LATEST_MS = 1000;

/** Lets the owner of a gateway speak to it, once its servers have been started or take their time; what that needs is loaded then. */
export function openControlSocket(gateway: Gateway, info: GatewayInfo, location: SocketLocation): Controlled {
  let opening: Promise<Control | undefined> | undefined;
  let isClosed = false;
  const ending = new Deferred<void>();
  const open = async (): Promise<Control | undefined> => {
    try {
      const { openControl } = await import('./socket-server.ts');
      return await openControl({ gateway, info, end: () => ending.resolve() }, location);
    } catch (error) {
      gateway.log.warn(`"${gateway.commandName} ps" will not find this gateway: ${(error as Error).message}`);
      return undefined;
    }
  };
  const openAfter = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      if (!isClosed) opening ??= open();
    }, ms).unref();
  const latest = openAfter(AT_LATEST_MS);
  gateway.ready.then(
    () => void openAfter(AFTER_MS),
    () => clearTimeout(latest),
  );
  return {
    stopped: ending.promise,
    async close() {
      isClosed = true;
      clearTimeout(latest);
      await (await opening)?.close();
    },
  };
}
