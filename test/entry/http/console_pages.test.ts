import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { PAGE_FILES } from '#entry/http/console_build.ts';
import { mountConsolePages } from '#entry/http/console_pages.ts';
import { mountConsole } from '#entry/http/console.ts';
import { CallBudget } from '#entry/http/connections/call_budget.ts';
import { httpContextOf } from '#entry/http/http_context.ts';
import { openSharedLimits } from '#entry/http/shared_limits.ts';
import { type Browser, givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';
import { fileWorld } from '#test/kit/world.ts';

const PAGE = `<!doctype html><html><head><base href="__BASE__" /><script nonce="__NONCE__">1</script>
<script type="module" nonce="__NONCE__" src="./assets/app.js"></script></head><body><div id="root"></div></body></html>`;
const FILES = { '/incidents/:id': ['assets/incident.css', 'assets/incident.js'], '/settings/audit': ['assets/a.js'] };

let app: FastifyInstance;
let folder: string;
let browser: Browser;
const w = await fileWorld();
beforeAll(async () => {
  browser = await signedIn(w, (await givenPerson(w, { role: 'owner', name: '</script><b>Ann' })).email, '198.51.100.7');
  folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-console-'));
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), PAGE);
  writeFileSync(path.join(folder, PAGE_FILES), JSON.stringify(FILES));
  app = fastify();
  app.removeAllContentTypeParsers();
  const limits = openSharedLimits(app, w.context);
  const budget = new CallBudget(
    { ...DEFAULT_LIMITS, callsPerMinute: 0, answerMegabytesPerMinute: 0 },
    w.context.reachedLimits,
    limits,
  );
  const findSession = await mountConsole(app, httpContextOf(w.context, limits), budget);
  await mountConsolePages(app, { baseUrl: w.context.config.baseUrl, folder }, findSession);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const open = (url: string, cookie: string | null = null) =>
  app.inject({ url, ...(cookie !== null && { headers: { cookie } }) });

test('a page names the files that it needs, so that a browser asks for all of them at once', async () => {
  const { body, headers } = await open('/incidents/incident_1?x=%22');
  const own =
    /<link rel="stylesheet" crossorigin href="\.\/assets\/incident\.css"><link rel="modulepreload" crossorigin href="\.\/assets\/incident\.js">/;
  expect(body).toMatch(own);
  expect(body.search(own)).toBeGreaterThan(body.indexOf('assets/app.js'));
  expect(body.search(own)).toBeLessThan(body.indexOf('</head>'));
  const [, nonce = ''] = /'nonce-([^']+)'/.exec(String(headers['content-security-policy'])) ?? [];
  expect(nonce).not.toBe('');
  expect(body.split(`nonce="${nonce}"`)).toHaveLength(3);
  expect((await open('/settings/audit?actor=x')).body).toContain('href="./assets/a.js"');
  expect((await open('/settings/constructor')).body).not.toContain('modulepreload');
  expect((await open('/services')).body).not.toContain('modulepreload');
});

test('a page holds who is signed in, whatever they are called, and nobody else is told', async () => {
  const cookie = browser.cookie!;
  const { body, headers } = await open('/settings/members', cookie);
  const [, held = ''] = /<script type="application\/json" id="session">(.*?)<\/script>/.exec(body) ?? [];
  expect(JSON.parse(held)).toEqual((await browser.get('/session')).body.result);
  expect(JSON.parse(held).user.name).toBe('</script><b>Ann');
  expect(body).not.toContain('<b>');
  expect(headers['cache-control']).toBe('no-store');
  for (const [url, other] of [
    ['/', null],
    ['/login', cookie],
    ['/', 'tocsin_session=nobody'],
  ] as const) {
    expect((await open(url, other)).body, url).not.toContain('id="session"');
  }
});
