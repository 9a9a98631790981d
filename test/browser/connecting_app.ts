import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

import { rawApp } from '#test/auth/oauth/raw_app.ts';
import type { ListeningWorld } from '#test/auth/oauth/listening_world.ts';
import type { ConsoleWorld } from '#test/browser/console_world.ts';

/** An app whose callback address is on this machine. */
export async function connectingApp(h: ConsoleWorld) {
  const server = createServer((_request, response) => response.end('called back'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirect_uri = `http://${host}/callback`;
  const s = { ...h, endpoint: new URL(`${h.baseUrl}/api/mcp`) } as unknown as ListeningWorld;
  const app = await rawApp(s, { client_name: 'Ada', redirect_uris: [redirect_uri] });
  return {
    s,
    host,
    calledBack: (page: Page) => page.waitForURL(`${redirect_uri}?**`),
    authorizationUrl: app.authorizationUrl({ redirect_uri }).href,
    redeem: (code: string) => app.redeem(code, { redirect_uri }),
  };
}
