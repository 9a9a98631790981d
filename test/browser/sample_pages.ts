import { createECDH, randomBytes } from 'node:crypto';

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import type { ConsoleWorld, Visitor } from '#test/browser/console_world.ts';
import { openPath } from '#test/browser/open_path.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';

/** A path and the controls to press there, one after the other, to open a dialog or menu; none for the page itself. */
export type OpenablePage = readonly [path: string, ...pressed: (string | RegExp)[]];

/** Creates one of each kind of thing. `rename` makes the names. */
export async function createSampleData(h: ConsoleWorld, { userId, email }: Visitor, rename = (name: string) => name) {
  const { serviceId } = await h.given.service({ name: rename('checkout') });
  const incidentId = await h.incident(serviceId, rename('Checkout is slow'));
  await h.expectOk('resolve_incident', { incidentId: await h.incident(serviceId, rename('Disk is full')) });
  const { teamId } = await h.expectOk('create_team', { name: rename('Platform') });
  const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
  const cleo = await givenPerson(h, { role: 'viewer', name: 'Cleo' });
  await h.expectOk('add_team_member', { teamId, userId: bram.userId });
  const rotationConfig = { userIds: [bram.userId] };
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: rename('Primary'), rotationConfig });
  await h.expectOk('create_schedule', { teamId, name: rename('Secondary'), rotationConfig });
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [bram.userId, userId], useSchedule: true }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: rename('Wake somebody'), steps });
  const now = h.clock.now();
  const window = { startAt: now.toString(), endAt: now.add({ hours: 4 }).toString() };
  await h.expectOk('create_schedule_override', { scheduleId, userId: cleo.userId, ...window });
  const other = await h.given.organization('Umbrella');
  await storesOf(h.context.db.session()).people.setMembership(other.orgId, userId, 'viewer', now);
  const browser = await signedIn(h, email);
  const invited = { email: 'dirk@example.com', role: 'viewer' };
  const { link } = (await browser.invoke(h.orgId, 'create_invitation', invited)).body.result;
  const key = { name: rename('Deploys'), kind: 'user', permissions: null, expiresAt: null };
  await browser.invoke(h.orgId, 'create_api_key', key);
  const pair = createECDH('prime256v1');
  const keys = { p256dh: pair.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') };
  const device = { endpoint: 'https://push.example.com/send/1', keys, label: rename('Chrome on Linux') };
  expect((await browser.invoke(h.orgId, 'create_push_subscription', device)).status).toBe(200);
  await storesOf(h.context.db.session()).connections.insert({
    connectionId: newId('connection'),
    orgId: h.orgId,
    userId,
    clientId: 'client_1',
    clientName: rename('Ada'),
    clientUri: null,
    access: 'read_only',
    createdAt: now,
    lastUsedAt: null,
  });
  for (const table of ['users', 'organizations']) {
    const rows = await h.context.db.sql.rows<{ id: string; name: string }>(`select id, name from ${table}`);
    for (const { id, name } of rows) {
      await h.context.db.sql.run(`update ${table} set name = $2 where id = $1`, [id, rename(name)]);
    }
  }
  const groups = await groupAndStore(h, serviceId, [
    eventAt(h, { release: 'shop@1.3.0' }),
    eventAt(h, { fingerprint: ['other'] }),
  ]);
  const layout = [{ type: 'series', title: rename('Latency'), query: { metricName: 'latency' } }];
  const wanted = { name: rename('At a glance'), serviceId, layout };
  const { dashboardId } = await h.expectOk('create_dashboard', wanted);
  return {
    serviceId,
    scheduleId,
    incidentId,
    teamId,
    policyId,
    dashboardId,
    groupId: groups[0]!.groupId,
    invitationPath: new URL(link).pathname.slice(1),
  };
}

export interface SampleIds {
  readonly serviceId: string;
  readonly incidentId: string;
  readonly scheduleId: string;
  readonly teamId: string;
  readonly policyId: string;
  readonly dashboardId: string;
  readonly groupId: string;
}

export const dialogsOf = ({
  serviceId,
  incidentId,
  scheduleId,
  teamId,
  policyId,
  dashboardId,
  groupId,
}: SampleIds): readonly OpenablePage[] => [
  ['incidents', 'Declare an incident'],
  [`incidents/${incidentId}`, 'Hand over'],
  ['', /^Search/],
  ['', /account and appearance$/],
  ['', /account and appearance$/, 'Keyboard shortcuts'],
  ['', /^Organization: /],
  ['', /^Take over /],
  ['', /^Remove override of /],
  ['oncall', /Cleo/],
  ['oncall', /Cleo/, 'Swap with another shift'],
  [`oncall/schedules/${scheduleId}`, 'Delete'],
  ['rules', 'Maintenance'],
  ['rules', /^More for /],
  ['rules', /^More for /, 'Delete'],
  ['services', 'Create a service'],
  [`services/${serviceId}/settings`, 'Edit'],
  [`services/${serviceId}/settings`, 'Edit noise and secrets'],
  [`services/${serviceId}`, 'Record a deploy'],
  [`services/${serviceId}/settings`, 'Exceptions enabled'],
  [`services/${serviceId}/settings`, 'Change how long Exceptions are kept'],
  [`services/${serviceId}/settings`, 'Rotate'],
  [`services/${serviceId}/settings`, 'Delete'],
  [`services/${serviceId}`, 'Compare'],
  [`services/${serviceId}/alerts`, 'Edit the routes'],
  [`exceptions/${groupId}`, 'Fixed in a release'],
  [`exceptions/${groupId}`, 'Fixed in a release', 'Fixed in a release …'],
  [`exceptions/${groupId}`, 'Merge into …'],
  ['oncall/teams', 'Create a team'],
  ['oncall/teams', /^Add to a team: /],
  [`oncall/teams/${teamId}`, 'Rename'],
  [`oncall/teams/${teamId}`, 'Add a member'],
  [`oncall/teams/${teamId}`, /^Change /],
  [`oncall/teams/${teamId}`, /^Change /, 'Edit contact'],
  [`oncall/teams/${teamId}`, /^Change /, 'Remove from the team'],
  [`oncall/teams/${teamId}`, 'Delete the team'],
  [`oncall/policies/${policyId}`, 'Delete the policy'],
  [`explore?service=${serviceId}&metric=latency`, 'Last hour'],
  [`explore?service=${serviceId}&metric=latency`, 'Last hour', 'Custom time range…'],
  [`explore?service=${serviceId}&metric=latency`, 'Add to a dashboard'],
  [`explore?service=${serviceId}&metric=latency`, 'Copy as API request'],
  ['dashboards', 'Create a dashboard'],
  ['dashboards', /^What to do with /],
  ['dashboards', /^What to do with /, 'Rename'],
  ['dashboards', /^What to do with /, 'Delete'],
  [`dashboards/${dashboardId}`, 'More about this dashboard'],
  [`dashboards/${dashboardId}`, /in full$/],
  // From here on, the page is being changed.
  [`dashboards/${dashboardId}`, 'Edit', 'Add a widget'],
  [`dashboards/${dashboardId}`, /^Change /],
  ['me', 'Your calendar'],
  ['me', 'Your calendar', 'Show your address'],
  ['me', /^Remove /],
  ['me', 'Change your password'],
  ['me', 'Log out everywhere else'],
  ['settings/members', 'What roles may do'],
  ['settings/members', 'Invite somebody'],
  ['settings/members', /^Remove /],
  ['settings/members', /^Role of /],
  ['settings/members', 'Revoke the invitation of dirk@example.com'],
  ['settings/api-keys', 'Create an API key'],
  ['settings/api-keys', /^Revoke /],
  ['settings/apps', /^Disconnect /],
  ['settings/agents', 'Stop all agents'],
  ['settings/integrations', 'Add a tracker'],
  ['settings/audit', 'Export'],
  ['settings/audit', /show what changed$/],
];

export const OVERLAY = '[role=dialog], [role=menu]';

export async function press(page: Page, name: string | RegExp): Promise<void> {
  const roles = ['button', 'menuitem', 'switch', 'combobox'] as const;
  const [first = page.locator('none'), ...others] = roles.map((role) => page.getByRole(role, { name }));
  const control = others
    .reduce((either, other) => either.or(other), first)
    .locator('visible=true')
    .first();
  if ((await control.locator('option').count()) > 0) await control.selectOption('editor');
  else if ((await control.getAttribute('role')) === 'switch') await control.press('Space');
  else await control.click();
}

async function load(page: Page, h: ConsoleWorld, path: string): Promise<void> {
  await openPath(page, h.baseUrl, path);
  await page.locator('main h1').waitFor();
  await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
}

const NAMED_WITHIN_MS = 30_000;

/** A list of choices that is open closes first, and then the dialog. */
async function closesByEscape(page: Page, opened: Locator): Promise<boolean> {
  const choices = page.locator('[role=listbox]').locator('visible=true');
  for (const timeout of [2_000, 20_000]) {
    if ((await choices.count()) > 0) await page.keyboard.press('Escape');
    await choices.first().waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    const closed = opened.first().waitFor({ state: 'detached', timeout });
    if (await closed.then(() => true).catch(() => false)) return true;
  }
  return false;
}

/** Script that finds the elements that stick out when the page is wider than the screen. */
const WIDER_THAN_SCREEN = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > clientWidth);
  return ['wider than the screen: ' + wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 200)).join(' … ')];
})()`;

/** Script that finds what does not fit into its menu or dialog: an item, its text, or the cross that closes it. */
const CUT_IN_OVERLAY = `(() => {
  const around = [...document.querySelectorAll('[role=menu], [role=dialog]')].filter((one) => one.checkVisibility());
  return around.flatMap((overlay) => {
    const { top, right, bottom, left } = overlay.getBoundingClientRect();
    return [...overlay.querySelectorAll('[role=menuitem], .mantine-Modal-close')].flatMap((one) => {
      const box = one.getBoundingClientRect();
      const isIn = box.top >= top - 1 && box.right <= right + 1 && box.bottom <= bottom + 1 && box.left >= left - 1;
      return isIn && one.scrollHeight <= one.clientHeight + 1 ? [] : ['cut in its menu or dialog: ' + one.outerHTML.slice(0, 200)];
    });
  });
})()`;

/** The problems of everything that opens. Each page is shown once, and all but the first by a link. */
export async function problemsOf(
  page: Page,
  h: ConsoleWorld,
  all: readonly OpenablePage[],
  look: (page: Page, isOpen: boolean) => Promise<string[]>,
): Promise<string[]> {
  const faults: string[] = [];
  // What was made behind its back shows.
  await page.reload();
  for (const [path, openings] of Map.groupBy(all, ([path]) => path)) {
    await load(page, h, path);
    for (const opening of openings) {
      const opened = page.locator(OVERLAY).locator('visible=true');
      for (const name of opening.slice(1)) {
        await press(page, name).catch((cause: unknown) => {
          throw new Error(`/${opening.join(', ')} at ${page.viewportSize()?.width} px: nothing to press`, { cause });
        });
      }
      if (opening.length > 1) await opened.last().waitFor();
      await page.locator('[role=dialog][aria-label=Opening]').waitFor({ state: 'detached' });
      // A dialog is named once its title stands; one that is never named is a finding.
      const nameless = page.locator('[role=dialog]:not([aria-labelledby], [aria-label])').first();
      await nameless.waitFor({ state: 'detached', timeout: NAMED_WITHIN_MS }).catch(() => {});
      const found = [
        ...(await look(page, opening.length > 1)),
        ...(await page.evaluate<string[]>(WIDER_THAN_SCREEN)),
        ...(await page.evaluate<string[]>(CUT_IN_OVERLAY)),
      ];
      if (!(await closesByEscape(page, opened))) {
        found.push('stays open after Escape');
        await page.reload();
        await load(page, h, path);
      }
      faults.push(...found.map((fault) => `/${opening.join(', ')} at ${page.viewportSize()?.width} px: ${fault}`));
    }
  }
  return faults;
}
