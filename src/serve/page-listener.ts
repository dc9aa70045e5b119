// The listener of a controller's page: loopback only, so that a reader connects from the machine
// itself or through `kubectl port-forward`. Checks Host and Origin before anything else.
import { createServer, type Server } from 'node:http';
import { checkHostAndOrigin } from './guard.ts';
import { listenerLimits } from './limits.ts';
import { headersOf, jsonResponse, writeResponse } from './message.ts';
import type { PageRoutes } from './page-routes.ts';

/** A page has one stream and few requests. */
const maxConnections = 256;

export const createPageListener = (
  page: PageRoutes,
  more: { readonly port: () => number; readonly onError: (error: unknown) => void },
): Server => {
  const server = createServer(listenerLimits, (message, response) => {
    const verdict = checkHostAndOrigin(headersOf(message), more.port());
    if (verdict.kind === 'refused') {
      return writeResponse(response, jsonResponse(403, { error: verdict.why }));
    }
    page.handle(message, response, more.port()).catch((error: unknown) => {
      more.onError(error);
      writeResponse(response, jsonResponse(500, { error: 'the page failed on this request' }));
    });
  });
  server.maxConnections = maxConnections;
  return server;
};
