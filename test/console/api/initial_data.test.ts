// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import * as queries from '#console/api/actions.ts';
import * as home from '#console/api/home.ts';
import { serverNow, serverTimeWas } from '#console/api/http.ts';
import * as incidents from '#console/api/incidents.ts';
import { dropDataOfPage, shownSince, takeDataOfPage } from '#console/api/initial_data.ts';
import { LAST_RESOLVED, MY_INCIDENTS } from '#modules/pages/decide/page_queries.ts';
import { PREFETCHED, type PrefetchedQuery } from '#modules/pages/decide/prefetched_queries.ts';

const ORG = 'org_1';
const INCIDENT = 'incident_1';

let asked: string[];
beforeEach(() => {
  dropDataOfPage();
  asked = [];
  // Browsers have this class.
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('PerformanceNavigationTiming', Object);
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    return Response.json({ result: 'asked' });
  });
});

const answerTo = ({ action, input }: PrefetchedQuery) => `${action} ${JSON.stringify(input)}`;

/** Opens a page that the server has sent with this data. */
function openPage(reads: readonly PrefetchedQuery[], at = new Date().toISOString()) {
  const held = document.createElement('script');
  held.type = 'application/json';
  held.id = 'first-data';
  held.textContent = JSON.stringify({
    orgId: ORG,
    at,
    reads: reads.map((read) => ({ ...read, result: answerTo(read) })),
  });
  document.body.append(held);
  return new QueryClient({ defaultOptions: { queries: { staleTime: 60_000, retry: false } } });
}

test('what a page asks for first is in the page, and nobody is asked', async () => {
  const client = openPage([
    ...(PREFETCHED.home?.('') ?? []),
    ...(PREFETCHED.incidents?.('') ?? []),
    ...(PREFETCHED.incident?.(INCIDENT) ?? []),
  ]);
  const results: unknown[] = [
    await client.ensureQueryData(home.homeQuery(ORG)),
    await client.ensureQueryData(home.pagingProblemsQuery(ORG)),
    await client.ensureQueryData(incidents.incidentCountsQuery(ORG)),
    await client.ensureQueryData(queries.incidentQuery(ORG, INCIDENT)),
    await client.ensureQueryData(queries.agentWorkQuery(ORG, INCIDENT)),
    await client.ensureQueryData(
      queries.actionQuery(ORG, 'incidents', 'get_linked_incidents', { incidentId: INCIDENT }),
    ),
  ];
  expect(results).toEqual([
    'get_home {}',
    'get_paging_problems {}',
    'count_incidents {}',
    `get_incident {"incidentId":"${INCIDENT}"}`,
    `get_agent_work {"incidentId":"${INCIDENT}"}`,
    `get_linked_incidents {"incidentId":"${INCIDENT}"}`,
  ]);
  for (const search of [MY_INCIDENTS, LAST_RESOLVED, { status: 'open' } as const]) {
    expect(await client.ensureInfiniteQueryData(incidents.incidentSearchQuery(ORG, search))).toEqual({
      pages: [answerTo({ action: 'search_incidents', input: search })],
      pageParams: [null],
    });
  }
  expect(asked).toEqual([]);
});

test('what the page holds is taken once, for its organization alone, and by nobody after who opened it', async () => {
  const wanted = { action: 'count_incidents', input: {} };
  const other = { action: 'get_home', input: {} };
  openPage([wanted, other]);
  expect(takeDataOfPage('org_2', wanted.action, wanted.input)).toBeUndefined();
  expect(shownSince(ORG)).toBeGreaterThan(0);
  expect(takeDataOfPage(ORG, wanted.action, wanted.input)).toBe(answerTo(wanted));
  // What has changed since the server read it is told.
  expect(shownSince(ORG)).toBe(0);
  expect(takeDataOfPage(ORG, wanted.action, wanted.input)).toBeUndefined();
  dropDataOfPage();
  expect(takeDataOfPage(ORG, other.action, other.input)).toBeUndefined();
  expect(document.querySelector('#first-data')).toBeNull();
});

test('the clock of the server is known from the page', async () => {
  openPage([], new Date(performance.timeOrigin + 3_600_000).toISOString());
  takeDataOfPage(ORG, 'get_home', {});
  expect(Math.round((serverNow() - Date.now()) / 60_000)).toBe(60);
  serverTimeWas(Date.now(), Date.now());
});
