// Several raw clients of one gateway inside the test.
import { PassThrough } from 'node:stream';
import type { Gateway } from '@weir/gateway';
import { Session } from '../../packages/gateway/src/front/session.ts';
import { NO_ACCOUNT } from '../../packages/gateway/src/wire/account.ts';
import { openLink } from '../../packages/gateway/src/wire/link.ts';
import { LineClient } from './line-client.ts';

export interface AnotherClient {
  readonly client: LineClient;
  /** As if its connection had broken. */
  leave(): void;
}

/** Connects one more client. */
export function connectClient(gateway: Gateway, identity: string): AnotherClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const session = new Session(
    gateway.fronts,
    (handlers) =>
      openLink(
        { input, output, maxMessageSize: gateway.fronts.maxMessageSize, account: NO_ACCOUNT },
        handlers,
      ),
    {
      serverInfo: { name: 'weir', version: '1.0.0' },
      identity,
    },
  );
  const client = new LineClient({ input, output, over: new Promise(() => {}) });
  return { client, leave: () => session.end('The client has left') };
}
