import { expect, onTestFinished, test } from 'vitest';

import { openStartingPage } from '#infra/embedded/starting_page.ts';

const HTML = { accept: 'text/html,application/xhtml+xml' };

test('a browser that comes before the API gets a page that loads the console by itself, and senders are told to repeat', async () => {
  const page = await openStartingPage({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => page.close());
  const shown = await fetch(`${page.url}/incidents`, { headers: HTML });
  expect([shown.status, shown.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
  expect(await shown.text()).toContain('location.reload()');
  const refused = await fetch(`${page.url}/api/ingest/metrics`, { method: 'POST', body: '{}' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await refused.json()).toMatchObject({ status: 503, detail: expect.stringContaining('starting') as string });
});

test('the port is free for the API once the page is closed, and a port that is taken is left to the API to report', async () => {
  const page = await openStartingPage({ host: '127.0.0.1', port: 0 });
  const port = Number(new URL(page.url!).port);
  const second = await openStartingPage({ host: '127.0.0.1', port });
  expect(second.url).toBeNull();
  await fetch(page.url!, { headers: HTML });
  await Promise.all([page.close(), second.close()]);
  await page.close();
  const next = await openStartingPage({ host: '127.0.0.1', port });
  expect(next.url).toBe(page.url);
  await next.close();
});
