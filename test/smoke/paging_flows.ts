import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { setUpPaging } from '#modules/home/operations/set_up_paging.ts';
import type { ConsoleWorld } from '#test/browser/console_world.ts';
import { openPath } from '#test/browser/open_path.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Smoke, TOUCH } from '#test/smoke/flows.ts';

const row = (page: Page, title: string, status: string) =>
  page.locator('li[data-row]').filter({ hasText: title }).filter({ hasText: status }).waitFor();

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** A team whose schedule has Bram on call, and Anna after him. */
async function givenSchedule(h: ConsoleWorld) {
  const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
  const anna = await givenPerson(h, { role: 'responder', name: 'Anna' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  await h.expectOk('add_team_member', { teamId, userId: bram.userId, phone: '+31612345679' });
  await h.expectOk('add_team_member', { teamId, userId: anna.userId });
  const rotationConfig = { userIds: [bram.userId, anna.userId] };
  const startAt = h.clock.now().subtract({ hours: 6 }).toString();
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: 'Primary', rotationConfig, startAt });
  const whoIsOnCall = async () => (await h.expectOk('who_is_on_call', { teamId })).schedules[0];
  return { teamId, scheduleId, whoIsOnCall };
}

/** A service whose latency was above 1 s ten minutes ago. */
async function givenSlowService(h: ConsoleWorld): Promise<Id<'service'>> {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const value = (step: number): number => (step > 40 && step < 50 ? 1_200 : 300);
  await givenMetrics(h, serviceId, { name: 'request_duration_ms', minutes: 60, everySeconds: 60, value });
  return serviceId;
}

export function pagingFlows(smoke: Smoke): void {
  test('an owner sets up paging on a phone', async () => {
    const h = await smoke.newOrganization();
    const { page } = await h.visitor({ ...TOUCH });
    await page.getByText('0 of 6 done.').waitFor();
    await page.getByRole('button', { name: 'Set up paging' }).first().tap();
    const form = page.getByRole('dialog', { name: 'Set up paging' });
    await form.getByLabel('Service').fill('checkout');
    await form.getByLabel('Your phone').fill('+31 6 1234 5678');
    await form.getByRole('button', { name: 'Set up' }).tap();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send yourself a page' }).waitFor();
    expect((await h.expectOk('list_teams')).teams).toMatchObject([{ schedules: [{}], escalationPolicies: [{}] }]);
  });

  test('a test page that an owner sends from a phone arrives by SMS', async () => {
    const h = await smoke.newOrganization();
    const names = { serviceId: null, serviceName: 'checkout', teamName: 'On call', timezone: 'UTC' };
    const owner = memberCaller(h.orgId, h.owner.userId, 'owner');
    await runOperation(h, setUpPaging, owner, { ...names, phone: '+31612345678' });
    const { page } = await h.visitor({ ...TOUCH });
    await page.getByRole('button', { name: 'Send yourself a page' }).tap();
    await page.getByRole('dialog').getByRole('button', { name: 'Send the page' }).tap();
    await heading(page, 'Test page: everything is fine');
    const arrived = smoke.phones.waitForMessage({
      timeoutMs: 8_000,
      to: '+31612345678',
      matching: /everything is fine/,
    });
    await expect(arrived).resolves.toBeDefined();
  });

  test('an incident that one person answers on a phone changes in the list of another', async () => {
    const h = await smoke.newOrganization();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const bram = await h.visitor({ role: 'viewer', name: 'Bram', path: '/incidents?status=all' });
    await row(bram.page, 'Checkout is slow', 'Triggered');
    const { page } = await h.visitor({ ...TOUCH, role: 'responder', name: 'Anna', path: `/incidents/${incidentId}` });
    await heading(page, 'Checkout is slow');
    await page.getByRole('button', { name: 'Acknowledge' }).tap();
    await row(bram.page, 'Checkout is slow', 'Acknowledged');
    await page.getByText('Acknowledged by Anna').first().waitFor();
    expect(await h.expectOk('get_incident', { incidentId })).toMatchObject({ status: 'acknowledged' });
    await h.expectOk('resolve_incident', { incidentId });
    await page.getByRole('button', { name: 'Reopen' }).waitFor();
  });

  test('a shift of a schedule is given to somebody else', async () => {
    const h = await smoke.newOrganization();
    const { whoIsOnCall } = await givenSchedule(h);
    const { page } = await h.visitor({ path: '/oncall', role: 'editor', name: 'Emma' });
    await page
      .getByRole('button', { name: /^Bram, / })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Anna' }).click();
    await dialog.getByRole('button', { name: 'Put on call' }).click();
    await page.getByText(/Anna is on call in Primary from/).waitFor();
    expect(await whoIsOnCall()).toMatchObject({ onCall: { name: 'Anna' }, source: 'override' });
  });

  test('a rule is tried on what was stored, and made', async () => {
    const h = await smoke.newOrganization();
    const serviceId = await givenSlowService(h);
    const { page } = await h.visitor({ path: `/rules/new?service=${serviceId}&metric=request_duration_ms` });
    await heading(page, 'Create a rule');
    await page.getByLabel('Name').fill('Checkout is slow');
    await page.getByLabel('Threshold', { exact: true }).first().fill('800');
    await page.getByText('It would have opened 1 incident').waitFor();
    await page.getByRole('slider', { name: 'Threshold' }).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await heading(page, 'Checkout is slow');
    await page.getByText('What it measures').waitFor();
    expect((await h.expectOk('get_service', { serviceId })).alertRules).toMatchObject([
      { name: 'Checkout is slow', config: { threshold: 800 }, enabled: true },
    ]);
  });

  test('pages of teams, policies and services show what the organization has', async () => {
    const h = await smoke.newOrganization();
    const serviceId = await givenSlowService(h);
    await givenSchedule(h);
    await h.incident(serviceId, 'Checkout is slow');
    const pages: readonly Shown[] = [
      ['', /, Olga$/, 'Checkout is slow'],
      ['oncall/teams', 'Teams', 'Platform'],
      ['oncall/policies', 'Escalation policies', 'Wake the people on call'],
      ['oncall/simulator', 'Simulator', 'Choose a service or a policy'],
      ['services', 'Services', 'checkout'],
      [`services/${serviceId}`, 'checkout', 'request_duration_ms'],
    ];
    expect(await openPages(h, pages)).toEqual(pages.map(([path]) => `/${path}`));
  });

  test('pages of metrics, of oneself and of settings show what the organization has', async () => {
    const h = await smoke.newOrganization();
    await givenSlowService(h);
    const pages: readonly Shown[] = [
      ['explore', 'Metrics', '1 series, gauge'],
      ['me', 'Olga', 'Your phone'],
      ['settings/delivery', 'Delivery', 'SMS'],
      ['settings/api-keys', 'API keys', 'tocsin_key_'],
      ['settings/apps', 'Connected apps', 'No app is connected'],
    ];
    expect(await openPages(h, pages)).toEqual(pages.map(([path]) => `/${path}`));
  });
}

type Shown = readonly [path: string, heading: string | RegExp, text: string];

/** Opens the pages one after the other, as an owner; returns where each shows what it should. */
async function openPages(h: ConsoleWorld, pages: readonly Shown[]): Promise<string[]> {
  const { page } = await h.visitor({ path: `/${pages[0]![0]}` });
  const paths: string[] = [];
  for (const [path, name, text] of pages) {
    await openPath(page, h.baseUrl, path);
    await heading(page, name);
    await page.getByText(text).first().waitFor();
    paths.push(new URL(page.url()).pathname);
  }
  return paths;
}
