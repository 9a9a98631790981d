import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { build } from 'vite';

import { PROGRAMS } from '#test/live/program.ts';

/** A web site with one page and its bundle, on an origin of its own. */
export interface ShopSite {
  readonly url: string;
  close(): Promise<void>;
}

export async function startShopSite(): Promise<ShopSite> {
  const script = await bundle(`${PROGRAMS}/shop_page.js`);
  const server = createServer((request, response) => {
    const isScript = request.url?.startsWith('/assets/') === true;
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(
      isScript
        ? script
        : '<!doctype html><title>Shop</title><script type="module" src="/assets/shop-DWx9cN3q.js"></script>',
    );
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bundle(entry: string): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify: false, target: 'es2022', lib: { entry, formats: ['es'], fileName: 'shop' } },
  });
  const [result] = Array.isArray(built) ? built : [built];
  if (result === undefined || !('output' in result)) throw new Error('nothing was built');
  return result.output[0].code;
}
