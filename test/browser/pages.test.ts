import { createServer, request } from 'node:http';

import type { Request } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';

import { PREFETCHED, type PrefetchedQuery } from '#modules/pages/decide/prefetched_queries.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';

inBrowser('every page', () => {
  test('is served with a fresh nonce, and its files are compressed and cached forever', async () => {
    const h = await openConsole();
    const [first, second] = await Promise.all([fetch(`${h.baseUrl}/incidents`), fetch(`${h.baseUrl}/incidents`)]);
    const nonceOf = (response: Response) =>
      /script-src 'self' 'nonce-([\w-]{22})'/.exec(response.headers.get('content-security-policy')!)![1]!;
    expect(nonceOf(first)).not.toBe(nonceOf(second));
    const html = await first.text();
    expect([...html.matchAll(/<script[^>]*>/g)].every(([tag]) => tag.includes(nonceOf(first)))).toBe(true);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const asset = /src="\.\/(assets\/index-[^"]+\.js)"/.exec(html)![1]!;
    const file = await fetch(`${h.baseUrl}/${asset}`, { headers: { 'accept-encoding': 'br' } });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toBe('br');
    expect((await fetch(`${h.baseUrl}/assets/gone.js`, { headers: { accept: 'text/html' } })).status).toBe(404);
    const missing = await fetch(`${h.baseUrl}/nowhere`, { headers: { accept: 'application/json' } });
    expect(missing.headers.get('content-type')).toContain('application/problem+json');
  });

  test.each([{ keeps: true }, { keeps: false }])(
    'works below a path, behind a proxy that keeps the path: $keeps',
    async ({ keeps }) => {
      const port = await findFreePort(0);
      const publicUrl = `${(await startProxy(port, '/on/call', keeps)).origin}/on/call`;
      const h = await openConsole({ publicUrl, port });
      const { page } = await h.visitor({ path: '/' });
      await page.getByText('Your open incidents').waitFor();
      await page.getByRole('link', { name: 'Services' }).first().click();
      await page.waitForURL(`${publicUrl}/services`);
      await page.getByText('No service yet').waitFor();
      await page.reload();
      await page.getByText('No service yet').waitFor();
      expect(await page.evaluate('navigator.serviceWorker.ready.then(({ scope }) => scope)')).toBe(`${publicUrl}/`);
    },
  );

  test('asks nobody for what it holds already', async () => {
    const h = await openConsole();
    const { page: first } = await h.visitor({ path: '/' });
    const { serviceId } = await h.given.service();
    const incidentId = await h.incident(serviceId, 'p95 latency');
    const idOf: Readonly<Record<string, string>> = { service: serviceId, incident: incidentId };
    // One tab of a browser listens for all.
    const context = first.context();
    await first.close();
    const again: string[] = [];
    for (const [name, readsOf] of Object.entries(PREFETCHED)) {
      const id = idOf[name] ?? '';
      const held = new Set(readsOf(id).map(({ action, input }) => JSON.stringify([action, input])));
      const asked: string[] = [];
      const page = await context.newPage();
      const listen = (sent: Request): void => {
        // What it asks for from then on has changed.
        if (sent.url().includes('/events?')) page.off('request', listen);
        const action = sent.url().split('/actions/')[1];
        const body = sent.method() === 'POST' ? (sent.postDataJSON() as { reads?: PrefetchedQuery[] }) : {};
        if (action !== undefined) asked.push(JSON.stringify([action, body]));
        for (const read of body.reads ?? []) asked.push(JSON.stringify([read.action, read.input]));
      };
      page.on('request', listen);
      const isOpen = page.waitForRequest(/\/events\?/);
      await page.goto(`${h.baseUrl}${PAGES[name as keyof typeof PAGES].replace(/\$\w+/, id)}`);
      await isOpen;
      await page.close();
      again.push(...asked.filter((one) => held.has(one)).map((one) => `${name}: ${one}`));
    }
    expect(again).toEqual([]);
  });

  test('recovers by itself when the server is back, whatever it showed during the outage', async () => {
    const port = await findFreePort(0);
    const proxy = await startProxy(port, '/', true);
    const h = await openConsole({ publicUrl: proxy.origin, port });
    // A page that does not hold its data.
    const { page } = await h.visitor({ path: '/settings/apps' });
    const isBack = async (): Promise<boolean> => {
      proxy.isAway = () => false;
      await page.getByText('No app is connected').waitFor();
      return true;
    };
    await page.getByText('No app is connected').waitFor();
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    await page.reload();

    proxy.isAway = () => true;
    await page.reload();
    await page.getByRole('heading', { name: 'Tocsin cannot be reached' }).waitFor();
    expect(await isBack()).toBe(true);

    // It is asked for by itself, or with what else the page asks for at that moment.
    proxy.isAway = (url) => url.includes('list_connections') || url.endsWith('/reads');
    await page.reload();
    await page.getByText('The server did not answer.').waitFor();
    expect(await isBack()).toBe(true);

    proxy.isAway = (url) => url.includes('/api/');
    await page.reload();
    // Who is signed in came with the page.
    await page.getByText('The server did not answer.').waitFor();
    expect(await isBack()).toBe(true);
  });
});

interface Proxy {
  readonly origin: string;
  /** Requests for these paths get no answer. */
  isAway: (url: string) => boolean;
}

/** Forwards to the server at the port, only below the path. */
async function startProxy(port: number, path: string, keeps: boolean): Promise<Proxy> {
  const proxy = { origin: '', isAway: (_url: string): boolean => false };
  const server = createServer((incoming, outgoing) => {
    const url = incoming.url ?? '/';
    if (proxy.isAway(url)) {
      outgoing.destroy();
      return;
    }
    if (!url.startsWith(path)) {
      outgoing.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const target = { host: '127.0.0.1', port, path: keeps ? url : url.slice(path.length) || '/', method, headers };
    const onward = request(target, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  const own = await findFreePort(0);
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(proxy, { origin: `http://127.0.0.1:${own}` });
}
