import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { axeViolations } from '#test/browser/axe.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { openConsole, type ConsoleWorld, type Visitor } from '#test/browser/console_world.ts';
import { openPath } from '#test/browser/open_path.ts';

type Open = (page: Page, path: string) => Promise<unknown>;

/** A page and a text that it shows once it has loaded. */
type PageCheck = readonly [path: string, shows: string];

/** Creates one of each kind of thing, so that no page is empty. */
async function createSampleData(h: ConsoleWorld, userId: string): Promise<readonly PageCheck[]> {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const silent = await h.given.service({ name: 'silent' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  await h.expectOk('add_team_member', { teamId, userId, phone: '+31612345678' });
  const rotationConfig = { userIds: [userId] };
  const weekly = { teamId, name: 'Primary', rotationType: 'weekly', rotationConfig };
  const { scheduleId } = await h.expectOk('create_schedule', weekly);
  const steps = [{ afterMinutes: 0, channels: ['email'], useSchedule: true }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  const open = await h.incident(serviceId, 'Checkout is slow');
  const acknowledged = await h.incident(serviceId, 'Disk is full');
  await h.expectOk('acknowledge_incident', { incidentId: acknowledged });
  await h.expectOk('resolve_incident', { incidentId: await h.incident(serviceId, 'Queue is long') });
  const { ruleId } = (await h.expectOk('get_service', { serviceId })).alertRules[0];
  const [group] = await groupAndStore(h, serviceId, [eventAt(h), eventAt(h, { ago: { hours: 30 } })]);
  const series = { labels: { route: '/pay' }, minutes: 60, everySeconds: 60 };
  await givenMetrics(h, serviceId, { name: 'queue_depth', ...series, value: (step) => 10 + (step % 9) });
  const query = { metricName: 'queue_depth', aggregation: 'avg' };
  const layout = ['series', 'number', 'table', 'text', 'incidents', 'oncall', 'flame'].map((type) => ({
    type,
    title: `A ${type}`,
    query,
    options: { text: '# Heading\n- an item' },
  }));
  const dashboard = await h.expectOk('create_dashboard', { name: 'At a glance', serviceId, layout });
  return [
    ['', 'On call now'],
    ['incidents', 'Disk is full'],
    ['incidents?status=all', 'Queue is long'],
    [`incidents/${open}`, 'Timeline'],
    [`incidents/${acknowledged}`, 'Unacknowledge'],
    ['exceptions', 'CardDeclined'],
    ['exceptions?status=ignored', 'No exception is ignored'],
    [`exceptions/${group!.groupId}`, 'Why these events are one group'],
    ['oncall', 'Primary'],
    ['oncall?view=month', 'Primary'],
    [`oncall/schedules/${scheduleId}`, 'Turns change every week'],
    [`oncall/schedules/${scheduleId}/edit`, 'Nobody’s shifts change in this time.'],
    ['oncall/schedules/new', 'Who takes turns'],
    ['oncall/teams', 'Platform'],
    [`oncall/teams/${teamId}`, 'Members'],
    ['oncall/policies', 'Wake somebody'],
    ['oncall/policies/new', 'Repeat all steps'],
    [`oncall/policies/${policyId}`, 'If an incident opened now'],
    [`oncall/policies/${policyId}/edit`, 'Who is on call in any schedule'],
    [`oncall/simulator?service=${serviceId}`, 'What is assumed'],
    ['rules', 'Checkout is slow'],
    [`rules/new?service=${serviceId}`, 'Fires when'],
    [`rules/${ruleId}`, 'What it measures'],
    [`rules/${ruleId}/edit`, 'Pages by'],
    ['services', 'checkout'],
    [`services/${serviceId}`, 'Incoming data'],
    [`services/${serviceId}/settings`, 'About it'],
    [`services/${serviceId}/alerts`, 'Connect a tool'],
    [`explore?service=${serviceId}`, 'queue_depth'],
    [`explore?service=${serviceId}&metric=queue_depth&split=route&compare=day`, 'Labels of 1 series'],
    [`explore?service=${serviceId}&metric=queue_dept`, 'Did you mean'],
    [`explore?service=${silent.serviceId}`, 'No metric yet'],
    ['dashboards', 'At a glance'],
    [`dashboards/${dashboard.dashboardId}`, 'A widget of the type flame cannot be shown here.'],
    ['me', 'Where you are logged in'],
    ['settings/members', 'Joined'],
    ['settings/api-keys', 'Acts as'],
    ['settings/apps', 'No app is connected'],
    ['settings/agents', 'Who may respond to incidents'],
    ['settings/general', 'Name of the organization'],
    ['settings/audit', 'Create a team'],
    ['settings/billing', 'Show what capabilities cost'],
    ['settings/delivery', 'Phone call'],
    ['settings/integrations', 'Incoming data'],
    ['settings/sign-in', 'Networks'],
    ['settings/provisioning', 'Provisioning'],
    ['settings/places', 'No place yet'],
    ['settings/status-pages', 'No status page yet'],
    ['settings/move-in', 'What to read'],
    ['nowhere', 'There is no page at this address'],
  ];
}

const OUTSIDE: readonly PageCheck[] = [
  ['login', 'Log in'],
  ['reset', 'Reset your password'],
  ['reset/unknown', 'This link no longer works'],
  ['invitation/unknown', 'This invitation no longer works'],
];

/** Finds headings of one word on several lines. */
const BROKEN_HEADINGS = `[...document.querySelectorAll('main :is(h1, h2, h3)')]
  .filter((heading) => /^\\S+$/.test(heading.textContent.trim()) && heading.checkVisibility())
  .filter((heading) => heading.getBoundingClientRect().height > 1.8 * parseFloat(getComputedStyle(heading).lineHeight))
  .map((heading) => 'broken within a word: ' + heading.textContent)`;

/** The problems of each of these pages, which `open` opens. */
async function problemsOf(page: Page, checks: readonly PageCheck[], open: Open): Promise<string[]> {
  const texts: string[] = [];
  for (const [path, shows] of checks) {
    await open(page, path);
    await page.getByText(shows).locator('visible=true').first().waitFor();
    await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    const faults = [
      ...(await axeViolations(page)),
      ...((await page.evaluate(isTooWide)) ? ['wider than the screen'] : []),
      ...(await page.evaluate<string[]>(BROKEN_HEADINGS)),
    ];
    texts.push(...faults.map((fault) => `/${path} at ${page.viewportSize()?.width} px: ${fault}`));
  }
  return texts;
}

inBrowser('every page', () => {
  test('is accessible and fits the screen, on a desktop and on a phone, in light and in dark', async () => {
    const h = await openConsole();
    const looks = { colorScheme: 'light' } as const;
    const desk = await h.visitor({ ...looks, viewport: DESK });
    const phone = await h.visitor({ ...looks, viewport: PHONE, isMobile: true });
    const checks = await createSampleData(h, desk.userId);
    const byAddress: Open = (page, path) => page.goto(`${h.baseUrl}/${path}`);
    const byLink: Open = (page, path) => openPath(page, h.baseUrl, path);
    const problems = async ({ page }: Visitor, open: Open): Promise<string[]> => {
      const inside = await problemsOf(page, checks, open);
      await page.context().clearCookies();
      return [...inside, ...(await problemsOf(page, OUTSIDE, byAddress))];
    };
    expect((await Promise.all([problems(desk, byAddress), problems(phone, byLink)])).flat()).toEqual([]);
  });
});
