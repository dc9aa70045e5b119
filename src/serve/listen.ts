// Binding listeners to loopback with errors that name the port and the remedy.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Listens on 127.0.0.1:`port` (0 = any free one); returns the port. Throws ListenError. */
export const listenOnLoopback = (
  server: Pick<Server, 'listen' | 'address' | 'once' | 'off'>,
  port: number,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const why =
        error.code === 'EADDRINUSE'
          ? `port ${port} on 127.0.0.1 is in use: pass another --port (0 picks a free one), ` +
            'or stop what listens there'
          : error.code === 'EACCES'
            ? `port ${port} needs more rights: pass a --port above 1023`
            : `cannot listen on 127.0.0.1:${port}: ${error.message}`;
      reject(new ListenError(why, { cause: error }));
    };
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
