import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { mountConsolePages } from '#entry/http/console_pages.ts';
import { mountConsole } from '#entry/http/console.ts';
import { CallBudget } from '#entry/http/connections/call_budget.ts';
import type { DataOfPage } from '#entry/http/console/initial_data.ts';
import { httpContextOf } from '#entry/http/http_context.ts';
import { openSharedLimits } from '#entry/http/shared_limits.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { escapeHtml } from '#notify/texts/html.ts';
import { type Browser, givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import { fileWorld } from '#test/kit/world.ts';

const HOSTILE = '</script><img src=x onerror=alert(1)>\u2028\u2029<!--';

let folder: string;
let viewer: Browser;
let stranger: Browser;
let incidentId: Id<'incident'>;
let serviceId: Id<'service'>;
const apps: FastifyInstance[] = [];
const w = await fileWorld();
beforeAll(async () => {
  ({ serviceId } = await w.given.service());
  [incidentId] = (await givenIncidents(w, serviceId, { count: 1, status: 'triggered', title: HOSTILE })) as [
    Id<'incident'>,
  ];
  await givenIncidents(w, serviceId, { count: 2, minutesAgo: 60 });
  viewer = await signedIn(w, (await givenPerson(w, { role: 'viewer' })).email, '198.51.100.1');
  const { orgId } = await w.given.organization('Globex');
  stranger = await signedIn(w, (await givenPerson(w, { role: 'owner', orgId })).email, '198.51.100.2');
  folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-console-'));
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(
    path.join(folder, 'index.html'),
    '<html><head><base href="__BASE__" /></head><body><div id="root"></div></body></html>',
  );
});
afterAll(async () => {
  for (const app of apps) await app.close();
  rmSync(folder, { recursive: true });
});

interface AppOptions {
  readonly callsPerMinute?: number;
  readonly pageWaitMs?: number;
}

/** However slow the machine is, a page waits for its data. */
const LONG_MS = 600_000;

async function openApp({ callsPerMinute = 0, pageWaitMs = LONG_MS }: AppOptions = {}): Promise<FastifyInstance> {
  const app = fastify();
  apps.push(app);
  app.removeAllContentTypeParsers();
  const limits = openSharedLimits(app, w.context);
  const own = { ...DEFAULT_LIMITS, callsPerMinute, answerMegabytesPerMinute: 0 };
  const budget = new CallBudget(own, w.context.reachedLimits, limits);
  const findData = await mountConsole(app, httpContextOf(w.context, limits), budget, pageWaitMs);
  await mountConsolePages(app, { baseUrl: w.context.config.baseUrl, folder }, findData);
  return app;
}

async function open(url: string, cookie: string | null, app?: FastifyInstance) {
  const serving = app ?? apps[0] ?? (await openApp());
  const answer = await serving.inject({ url, ...(cookie !== null && { headers: { cookie } }) });
  const [, held] = /<script type="application\/json" id="first-data">(.*?)<\/script>/s.exec(answer.body) ?? [];
  const first = held === undefined ? null : (JSON.parse(held) as NonNullable<DataOfPage['first']>);
  return { status: answer.statusCode, body: answer.body, kept: answer.headers['cache-control'], held, first };
}

const actionsOf = ({ first }: Awaited<ReturnType<typeof open>>) => first?.reads.map(({ action }) => action).toSorted();

describe('a page', () => {
  test('holds what it shows first, as the same person is answered, and is kept on no disk', async () => {
    for (const [url, count] of [
      ['/', 5],
      ['/incidents', 3],
      [`/incidents/${incidentId}`, 5],
      ['/me', 3],
      ['/services', 4],
      [`/services/${serviceId}`, 12],
      ['/oncall', 3],
      ['/oncall/teams', 4],
      ['/oncall/policies', 3],
      ['/exceptions', 4],
      ['/rules', 3],
      ['/explore', 3],
      ['/dashboards', 3],
    ] as const) {
      const { status, first, kept } = await open(url, viewer.cookie);
      expect([status, kept]).toEqual([200, 'no-store']);
      expect(first).toMatchObject({ orgId: w.orgId, at: w.clock.now().toString({ fractionalSecondDigits: 3 }) });
      expect(first?.reads).toHaveLength(count);
      for (const { action, input, result } of first?.reads ?? []) {
        const { body } = await viewer.invoke(w.orgId, action, input);
        expect(result, action).toEqual(body.result);
      }
    }
  });

  test('holds hostile words as words', async () => {
    const { body, held, first } = await open(`/incidents/${incidentId}`, viewer.cookie);
    expect(held).not.toMatch(/[<\u2028\u2029]/);
    expect(body).not.toContain('<img');
    expect(first?.reads.find(({ action }) => action === 'get_incident')?.result).toMatchObject({
      title: `${HOSTILE} 1`,
    });
  });

  test('shows whose it is and what it is about before the console is there', async () => {
    const shown = async (url: string, { cookie }: Browser) =>
      /<div id="root">(.*?)<\/div>/s.exec((await open(url, cookie)).body)?.[1];
    const organization = '<div class="first-frame"><p><bdi>Acme</bdi></p>';
    const title = escapeHtml(`${HOSTILE} 1`);
    expect(title).not.toMatch(/[<>]/);
    expect(await shown(`/incidents/${incidentId}`, viewer)).toBe(`${organization}<h1><bdi>${title}</bdi></h1>`);
    expect(await shown('/', viewer)).toBe(organization);
    expect(await shown(`/incidents/${incidentId}`, stranger)).toBe(organization.replace('Acme', 'Globex'));
    expect(await shown('/connect/nothing', viewer)).toBe('');
  });

  test('holds nothing of another organization', async () => {
    const list = await open('/incidents', stranger.cookie);
    expect(list.first?.orgId).not.toBe(w.orgId);
    expect(list.first?.reads.find(({ action }) => action === 'search_incidents')?.result).toMatchObject({
      incidents: [],
    });
    const incident = await open(`/incidents/${incidentId}`, stranger.cookie);
    expect(actionsOf(incident)).toEqual(['count_incidents', 'get_paging_problems']);
    expect(incident.body).not.toContain('onerror');
  });

  test('holds what is around every other page, and around a filtered list', async () => {
    for (const url of ['/incidents?status=resolved', '/services?q=checkout', '/settings/members']) {
      const page = await open(url, viewer.cookie);
      expect(actionsOf(page), url).toEqual(['count_incidents', 'get_paging_problems']);
      expect(page.kept).toBe('no-store');
    }
  });

  test('holds nothing for nobody, and nothing on the pages of those who are not signed in', async () => {
    for (const [url, cookie] of [
      ['/', null],
      [`/incidents/${incidentId}`, null],
      ['/', 'tocsin_session=nobody'],
      ['/login', viewer.cookie],
      ['/connect/nothing', viewer.cookie],
    ] as const) {
      const { status, first, kept } = await open(url, cookie);
      expect({ status, first, kept }, url).toEqual({ status: 200, first: null, kept: 'private, no-cache' });
    }
  });

  test('holds nothing for whom the organization asks for a second factor first', async () => {
    const other = await w.given.organization('Initech');
    const owner = await signedIn(
      w,
      (await givenPerson(w, { role: 'owner', orgId: other.orgId })).email,
      '198.51.100.3',
    );
    expect((await open('/', owner.cookie)).first).not.toBeNull();
    await w.context.db.sql.run('update organizations set second_factor_required = true where id = $1', [other.orgId]);
    const { body, first } = await open('/', owner.cookie);
    expect(first).toBeNull();
    expect(body).toContain('id="session"');
  });

  test('holds nothing for somebody in several organizations: only the browser knows which one it shows', async () => {
    const other = await w.given.organization('Umbrella');
    const { email, userId } = await givenPerson(w, { role: 'viewer', orgId: other.orgId });
    const person = await signedIn(w, email, '198.51.100.4');
    expect((await open('/', person.cookie)).first).not.toBeNull();
    await storesOf(w.context.db.session()).people.setMembership(w.orgId, userId, 'viewer', w.clock.now());
    expect((await open('/', person.cookie)).first).toBeNull();
  });

  test('spends the budget of who opens it, and comes without what is over it', async () => {
    const app = await openApp({ callsPerMinute: 7 });
    expect((await open('/', viewer.cookie, app)).first?.reads).toHaveLength(5);
    const { status, first } = await open('/', viewer.cookie, app);
    expect(status).toBe(200);
    expect(first?.reads).toHaveLength(2);
  });

  test('comes without its data when that takes long: the console asks for it', async () => {
    const { status, first, kept, body } = await open('/', viewer.cookie, await openApp({ pageWaitMs: 0 }));
    expect({ status, first, kept }).toEqual({ status: 200, first: null, kept: 'private, no-cache' });
    expect(body).toContain('id="session"');
  });
});
