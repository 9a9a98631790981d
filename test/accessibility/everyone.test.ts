import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Role } from '#kernel/permissions.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { enter, go, loaded, reach, thumbOf } from '#test/browser/input.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';

inBrowser('everyone', () => {
  test('makes, changes and removes what an organization needs with the keyboard alone', async () => {
    const h = await openConsole();
    const bram = await givenPerson(h, { role: 'editor', name: 'Bram' });
    const { page, userId } = await h.visitor({ path: '/', serviceWorkers: 'block' });
    await page.getByText('Your open incidents').waitFor();
    const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog');

    await go(page, 's', 'Services');
    await page.getByText('No service yet').waitFor();
    await enter(button('Create a service').first());
    await enter(dialog.getByLabel('Name'), 'checkout');
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    const [{ serviceId }] = (await h.expectOk('list_services')).services;
    const { ingestionKey } = await h.expectOk('get_service', { serviceId });
    await enter(page.getByRole('main').getByRole('link', { name: 'Settings', exact: true }));
    await enter(button('Rotate'));
    await enter(dialog.getByLabel('Type checkout to confirm'), 'checkout');
    await page.getByText('The new key and DSN are active').waitFor();
    expect((await h.expectOk('get_service', { serviceId })).ingestionKey).not.toBe(ingestionKey);
    await enter(button('Delete'));
    await enter(dialog.getByLabel('Type checkout to confirm'), 'checkout');
    await page.getByText('No service yet').waitFor();

    await go(page, 't', 'Members');
    await reach(page.getByLabel('Role of Bram'));
    await page.keyboard.press('ArrowDown');
    await enter(button('Make responder', dialog));
    await page.getByText('Bram is now responder.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await enter(button('Invite somebody'));
    await enter(dialog.getByLabel('Mail address'), 'dirk@example.com');
    await enter(button('Done', dialog));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('dirk@example.com').waitFor();
    await enter(page.getByRole('main').getByRole('link', { name: 'Keys and apps' }));
    await loaded(page, 'API keys');
    await enter(button('Create an API key').first());
    await enter(dialog.getByLabel('Name'), 'Deploys');
    await enter(button('I have copied it', dialog));
    await enter(button('Revoke Deploys'));
    await enter(button('Revoke', dialog));
    await page.getByText('Deploys is revoked.').waitFor();
    await dialog.waitFor({ state: 'detached' });

    await go(page, 'm', 'Olga');
    const phone = page.getByRole('region', { name: 'Your phone' }).getByLabel('Phone', { exact: true });
    await enter(phone, '+31612345678');
    await page.getByText('Your contact details are saved.').waitFor();
    const rows = await h.context.db.sql.rows('select role, phone from memberships where user_id = any($1) order by 1', [
      [bram.userId, userId],
    ]);
    expect(rows).toEqual([
      { role: 'owner', phone: '+31612345678' },
      { role: 'responder', phone: null },
    ]);
  });

  test('does the same with a thumb, where all that can be pressed is as high as one', async () => {
    const h = await openConsole();
    const touch = { viewport: PHONE, isMobile: true, hasTouch: true, serviceWorkers: 'block' } as const;
    const { page, userId } = await h.visitor({ ...touch, path: '/services' });
    await page.getByText('No service yet').waitFor();
    const press = await thumbOf(page);
    const tap = (name: string, within: Page | Locator = page) =>
      press(within.getByRole('button', { name, exact: true }).first());
    const more = async (link: string, title: string): Promise<void> => {
      await tap('More', page.getByRole('navigation', { name: 'Main navigation, on a phone' }));
      await press(page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: link, exact: true }));
      await loaded(page, title);
    };
    const dialog = page.getByRole('dialog');

    await tap('Create a service');
    await dialog.getByLabel('Name').fill('checkout');
    await tap('Create', dialog);
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    const [{ serviceId }] = (await h.expectOk('list_services')).services;
    const series = { minutes: 60, everySeconds: 60 };
    await givenMetrics(h, serviceId, { name: 'queue_depth', ...series, value: (step) => 10 + (step % 9) });

    await more('Metrics', 'Metrics');
    await press(page.getByRole('button', { name: /^queue_depth/ }));
    await page.getByRole('slider', { name: 'Time in queue_depth' }).waitFor();

    await more('Dashboards', 'Dashboards');
    await tap('Use what checkout sends');
    await dialog.getByLabel('Name', { exact: true }).fill('At a glance');
    await tap('Create', dialog);
    await page.getByRole('heading', { name: 'At a glance', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'queue_depth' }).first().waitFor();
    await tap('Edit');
    await tap('Add a widget');
    await dialog.getByLabel('Kind').selectOption('text');
    await dialog.getByLabel('Text', { exact: true }).fill('Call Anna first');
    await tap('Add', dialog);
    await page.getByText('Call Anna first').waitFor();
    await tap('Save');
    await page.getByText('The dashboard is saved').waitFor();

    await more('Settings', 'Members');
    await tap('Invite somebody');
    await dialog.getByLabel('Mail address').fill('dirk@example.com');
    await tap('Invite', dialog);
    await tap('Done', dialog);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('dirk@example.com').waitFor();

    await more('Me', 'Olga');
    const phone = page.getByRole('region', { name: 'Your phone' });
    await phone.getByLabel('Phone', { exact: true }).fill('+31612345678');
    await tap('Save', phone);
    await page.getByText('Your contact details are saved.').waitFor();
    const saved = await h.context.db.sql.rows('select phone from memberships where user_id = $1', [userId]);
    expect(saved).toEqual([{ phone: '+31612345678' }]);
  });

  test('sees what their role may do, and no page asks for what it may not', async () => {
    const h = await openConsole();
    const pages = await givenPages(h);
    const roles = ['viewer', 'responder', 'editor', 'admin'] as const;
    const seen = await Promise.all(roles.map(async (role) => await controlsOf(h, role, pages)));
    const offered = pages.flatMap(([path, , controls]) => Object.keys(controls).map((name) => `/${path}: ${name}`));
    const rolesOf = (control: string) => roles.filter((_, index) => seen[index]?.includes(control));
    expect(Object.fromEntries(offered.map((control) => [control, rolesOf(control)]))).toEqual(
      Object.fromEntries(
        pages.flatMap(([path, , controls]) =>
          Object.entries(controls).map(([name, first]) => [`/${path}: ${name}`, roles.slice(roles.indexOf(first))]),
        ),
      ),
    );
  });
});

/** An address, what it shows, and what can be pressed there with the least of the roles that may. */
type TestedPage = readonly [
  path: string,
  shows: string,
  controls: Readonly<Record<string, 'viewer' | 'responder' | 'editor' | 'admin'>>,
];

async function givenPages(h: ConsoleWorld): Promise<readonly TestedPage[]> {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const incidentId = await h.incident(serviceId, 'Checkout is slow');
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  const { scheduleId } = await h.expectOk('create_schedule', { teamId, name: 'Primary' });
  const steps = [{ afterMinutes: 0, channels: ['email'], useSchedule: true }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  const { ruleId } = (await h.expectOk('get_service', { serviceId })).alertRules[0];
  const [group] = await groupAndStore(h, serviceId, [eventAt(h)]);
  await givenMetrics(h, serviceId, { name: 'queue_depth', minutes: 60, everySeconds: 60, value: () => 1 });
  const { dashboardId } = await h.expectOk('create_dashboard', { name: 'At a glance', serviceId });
  return [
    ['', 'Your open incidents', { 'Acknowledge incident 1': 'responder', 'Take over Primary': 'responder' }],
    ['incidents', 'Checkout is slow', { 'Declare an incident': 'responder', 'Acknowledge incident 1': 'responder' }],
    [
      `incidents/${incidentId}`,
      'Timeline',
      { Acknowledge: 'responder', Resolve: 'responder', 'Hand over': 'responder' },
    ],
    ['exceptions', 'CardDeclined', {}],
    [`exceptions/${group!.groupId}`, 'Why these events are one group', { Resolve: 'editor', Ignore: 'editor' }],
    ['oncall', 'Primary', { 'Create a schedule': 'responder' }],
    [`oncall/schedules/${scheduleId}`, 'The next four weeks', { Edit: 'responder', Delete: 'responder' }],
    ['oncall/teams', 'Platform', { 'Create a team': 'responder' }],
    [`oncall/teams/${teamId}`, 'Escalation policies', { 'Add a member': 'responder', 'Delete the team': 'responder' }],
    ['oncall/policies', 'Wake somebody', { 'Create a policy': 'responder' }],
    [
      `oncall/policies/${policyId}`,
      'If an incident opened now',
      { Edit: 'responder', 'Delete the policy': 'responder' },
    ],
    ['rules', 'Checkout is slow', { 'Create a rule': 'responder', 'Checkout is slow enabled': 'responder' }],
    [`rules/${ruleId}`, 'What it measures', { Edit: 'responder', Duplicate: 'responder' }],
    ['services', 'checkout', { 'Create a service': 'editor' }],
    [`services/${serviceId}`, 'Incoming data', {}],
    [`services/${serviceId}/settings`, 'About it', { Edit: 'editor', Rotate: 'editor', Delete: 'admin' }],
    [
      `explore?service=${serviceId}&metric=queue_depth`,
      'Labels of 1 series',
      { 'Create a rule': 'responder', 'Add to a dashboard': 'editor', 'Copy as API request': 'viewer' },
    ],
    ['dashboards', 'At a glance', { 'Create a dashboard': 'editor' }],
    [`dashboards/${dashboardId}`, 'No widgets yet', { Edit: 'editor', 'Full screen': 'viewer' }],
    ['settings/members', 'Joined', { 'Invite somebody': 'admin' }],
    ['settings/api-keys', 'Acts as', { 'Create an API key': 'viewer' }],
    ['settings/apps', 'No app is connected', {}],
    ['settings/agents', 'Who may respond to incidents', { 'Stop all agents': 'admin' }],
    ['settings/delivery', 'Whether this server can send messages to people.', {}],
    ['settings/integrations', 'Programs and assistants', {}],
    ['settings/general', 'Name of the organization', {}],
    ['settings/billing', 'Show what capabilities cost', {}],
    ['settings/audit', 'Create a team', { Export: 'admin' }],
    ['oncall/simulator', 'Nothing is sent: the simulator only shows what would happen.', {}],
    ['me', 'Would a page wake you?', { 'Send a test by Mail': 'viewer', 'Your calendar': 'viewer' }],
  ];
}

/** Returns the named controls of each page. */
async function controlsOf(h: ConsoleWorld, role: Role, pages: readonly TestedPage[]): Promise<string[]> {
  const { page } = await h.visitor({ role, name: `The-${role}`, path: '/nowhere', serviceWorkers: 'block' });
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(`${role}: ${answer.url()} ${answer.request().postData() ?? ''}`);
  });
  await page.getByText('There is no page at this address').waitFor();
  const texts: string[] = [];
  for (const [path, shows, controls] of pages) {
    // As a link does, without loading the program anew. The page before stays until the next one is there.
    await page.evaluate(
      `document.querySelector('main h1').dataset.old = ''; history.pushState({}, '', '${h.baseUrl}/${path}')`,
    );
    await page.locator('main h1:not([data-old])').waitFor();
    const isHidden = ['settings/audit', 'settings/billing', 'settings/general'].includes(path) && role !== 'admin';
    const text = isHidden ? 'For owners and admins' : shows;
    await page.getByRole('main').getByText(text).locator('visible=true').first().waitFor();
    await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    for (const name of Object.keys(controls)) {
      const kinds = (['button', 'link', 'switch'] as const).map((kind) =>
        page.getByRole('main').getByRole(kind, { name, exact: true }).and(page.locator(':not([disabled])')).count(),
      );
      if ((await Promise.all(kinds)).some((count) => count > 0)) texts.push(`/${path}: ${name}`);
    }
  }
  expect(refused).toEqual([]);
  return texts;
}
