import { startPhone } from '@tocsin/phone-simulator';
import { expect, onTestFinished, test } from 'vitest';

import { createIssueTracker } from '#modules/exceptions/operations/issue_trackers.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { loaded } from '#test/browser/input.ts';
import { type ConsoleUse, type Kind, withEachInputMethod } from '#test/flows/input_methods.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { startIssueTrackers, TRACKER_TOKEN } from '#test/kit/programs/issue_trackers.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';

const ACCOUNT = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token of the test account' };
const NUMBERS: Readonly<Record<Kind, string>> = {
  mouse: '+31612345671',
  keyboard: '+31612345672',
  touch: '+31612345673',
};

type Phone = Awaited<ReturnType<typeof startPhone>>;

/** A job: what is there before it, and how a person does it from Home. */
interface Job {
  readonly who: string;
  /** Most presses, entries and choices, on a phone as at a desk. */
  readonly steps: number;
  /** Pages on the way, in their order: any other page is a wrong turn. */
  readonly pages: readonly string[];
  do(use: ConsoleUse, phone: Phone): Promise<void>;
}

const JOBS: readonly Job[] = [
  {
    who: 'first owner gets a page on the own phone',
    steps: 6,
    pages: ['/', '/incidents/:id'],
    async do({ kind, page, dialog, button, press, write, isClosed }, phone) {
      await press(button('Set up paging'));
      await write(dialog.getByLabel('Service'), 'checkout');
      await write(dialog.getByLabel('Your phone'), NUMBERS[kind]);
      await press(button('Set up', dialog));
      await isClosed();
      await press(button('Send yourself a page'));
      await press(button('Send the page', dialog));
      await loaded(page, 'Test page: everything is fine');
      await phone.waitForMessage({ timeoutMs: 60_000, to: NUMBERS[kind], matching: /Test page/ });
    },
  },
  {
    who: 'team lead makes a team with a rotation, and puts somebody else on call',
    steps: 19,
    pages: ['/', '/oncall', '/oncall/teams', '/oncall/teams/:id', '/oncall/schedules/new', '/oncall/schedules/:id'],
    async do({ world, page, dialog, button, go, press, write, pick, sees, isClosed }) {
      for (const name of ['Bram', 'Cleo']) await givenPerson(world, { role: 'responder', name });
      await go('On-call');
      await press(page.getByRole('link', { name: 'Teams', exact: true }));
      await loaded(page, 'Teams');
      await press(button('Create a team'));
      await write(dialog.getByLabel('Name', { exact: true }), 'Payments');
      await press(button('Create', dialog));
      await loaded(page, 'Payments');
      await isClosed();
      for (const name of ['Bram', 'Cleo']) {
        await press(button('Add a member'));
        await pick(dialog.getByRole('combobox', { name: 'Person' }), name);
        await press(button('Add', dialog));
        await isClosed();
        await button(`Change ${name}`).waitFor();
      }
      await press(page.getByRole('region', { name: 'Schedules' }).getByRole('link', { name: 'Create' }));
      await page.getByRole('heading', { name: 'Create a schedule', level: 1 }).waitFor();
      await write(page.getByLabel('Name', { exact: true }), 'Primary');
      await pick(page.getByRole('combobox', { name: 'Add a person' }), 'Bram');
      await button('Remove Bram').waitFor();
      await pick(page.getByRole('combobox', { name: 'Add a person' }), 'Cleo');
      await page.getByLabel('First shifts').getByText('Cleo').first().waitFor();
      await press(button('Create'));
      await loaded(page, 'Primary');
      await press(button(/^\W*Bram/));
      await press(dialog.getByRole('radio', { name: 'Cleo' }));
      await press(button('Put on call', dialog));
      await sees(/Cleo is on call in Primary from/);
    },
  },
  {
    who: 'developer takes an exception, writes of it, makes an issue and resolves it',
    steps: 10,
    pages: ['/', '/exceptions', '/exceptions/:id'],
    async do({ world, page, dialog, button, go, press, write, sees, isClosed }) {
      const vendors = await startIssueTrackers();
      onTestFinished(() => vendors.close());
      const github = { kind: 'github', address: `${vendors.url}/github`, project: 'acme/shop', token: TRACKER_TOKEN };
      await runOperation(world, createIssueTracker, memberCaller(world.orgId, world.owner.userId, 'owner'), github);
      const { serviceId } = await world.given.service({ name: 'checkout' });
      const [group] = await groupAndStore(world, serviceId, [eventAt(world, { release: 'shop@1.4.0' })]);
      const { groupId } = group!;
      const { title } = await world.expectOk('get_exception_group', { groupId });
      await go('Exceptions');
      await press(page.locator('li[data-row]').filter({ hasText: title }).getByRole('link').first());
      await loaded(page, title);
      await press(button('Assign'));
      await press(page.getByRole('menuitem', { name: 'Assign to me' }));
      await sees(/^Exception assigned to/);
      await write(page.getByRole('textbox', { name: 'Add a comment' }), 'The bank is down.');
      await press(button('Comment'));
      await page.getByRole('region', { name: 'Comments and history' }).getByText('The bank is down.').waitFor();
      await press(button('Create an issue'));
      await press(button('Create an issue', dialog));
      await isClosed();
      const [issue] = vendors.issues;
      await page.getByRole('link', { name: `#${issue!.number}` }).waitFor();
      await sees('Open');
      expect(issue!.body.body).toContain(groupId);
      await press(button('Resolve'));
      await expect.poll(async () => (await world.expectOk('get_exception_group', { groupId })).status).toBe('resolved');
    },
  },
  {
    who: 'platform engineer looks at a metric, makes a rule of it and a dashboard',
    steps: 13,
    pages: ['/', '/explore', '/rules/new', '/rules/:id', '/explore', '/dashboards/:id'],
    async do({ world, page, dialog, button, go, press, write, pick, sees, isClosed }) {
      const { serviceId } = await world.given.service({ name: 'checkout' });
      const value = (step: number) => 300 + (step % 9);
      await givenMetrics(world, serviceId, { name: 'wait_ms', minutes: 90, everySeconds: 60, value });
      await go('Metrics');
      await press(button(/^wait_ms/));
      await page.getByRole('slider', { name: 'Time in wait_ms' }).waitFor();
      await press(page.getByRole('link', { name: 'Create a rule' }));
      await page.getByRole('heading', { name: 'Create a rule', level: 1 }).waitFor();
      await write(page.getByLabel('Threshold', { exact: true }).first(), '400');
      await sees(/^It would have opened|^It would not have/);
      await write(page.getByLabel('Name', { exact: true }), 'Slow');
      await press(button('Create'));
      await loaded(page, 'Slow');
      await go('Metrics');
      await press(button('Add to a dashboard'));
      await pick(dialog.getByRole('combobox', { name: 'Dashboard' }), 'A new dashboard');
      await write(dialog.getByLabel('Name of the dashboard'), 'Waits');
      await press(button('Add', dialog));
      await loaded(page, 'Waits');
      await isClosed();
    },
  },
  {
    who: 'owner invites two people at once, sees what roles may do, and makes a key',
    steps: 13,
    pages: ['/', '/settings', '/settings/members', '/settings/api-keys'],
    async do({ page, dialog, button, go, press, write, sees, isClosed }) {
      await go('Settings', 'Members');
      await press(button('Invite somebody'));
      await write(dialog.getByLabel('Mail address'), 'dana@example.com eva@example.com');
      await press(button(/^Invite/, dialog));
      await press(button('Done', dialog));
      await isClosed();
      await sees('dana@example.com');
      await press(button('What roles may do'));
      await dialog.getByRole('table').waitFor();
      await press(button('Close', dialog));
      await isClosed();
      await press(page.getByRole('link', { name: 'Keys and apps', exact: true }));
      await loaded(page, 'API keys');
      await press(button('Create an API key'));
      await write(dialog.getByLabel('Name'), 'Deploys');
      await press(button('Create', dialog));
      await page.getByText(/^tocsin_key_\w+$/).waitFor();
      await press(button('I have copied it', dialog));
      await isClosed();
    },
  },
  {
    who: 'responder answers by the link of a message, writes what was seen and resolves',
    steps: 5,
    pages: ['/', '/a/:link', '/incidents/:id'],
    async do({ kind, world, person, page, button, press, write }, phone) {
      const { serviceId } = await world.given.service({ name: 'checkout' });
      const { teamId } = await world.expectOk('create_team', { name: 'Payments' });
      await world.expectOk('add_team_member', {
        teamId,
        userId: person.userId,
        phone: NUMBERS[kind],
        smsEnabled: true,
      });
      const step = { afterMinutes: 0, channels: ['sms'], useSchedule: false, targetUserIds: [person.userId] };
      const policy = { teamId, name: 'Page', steps: [step] };
      const { policyId } = await world.expectOk('create_escalation_policy', policy);
      const incidentId = await world.incident(serviceId, 'Nobody can pay', { escalationPolicyId: policyId });
      const sms = await phone.waitForMessage({ timeoutMs: 60_000, to: NUMBERS[kind], matching: /\/a\/\w+/ });
      await page.goto(/https?:\S+\/a\/\w+/.exec(sms.body)![0]);
      const statusIs = async (status: string) =>
        await expect.poll(async () => (await world.expectOk('get_incident', { incidentId })).status).toBe(status);
      await press(page.getByRole('button', { name: /^Acknowledge/ }));
      await statusIs('acknowledged');
      await press(page.getByRole('link').first());
      await loaded(page, 'Nobody can pay');
      await write(page.getByLabel('Add a note'), 'The replica lags.');
      await press(button('Add note'));
      await press(button('Resolve'));
      await statusIs('resolved');
    },
  },
];

inBrowser('by mouse, keyboard and thumb', () => {
  test.each(JOBS)('$who', async ({ steps, pages, do: doJob }) => {
    const phone = await startPhone({ ...ACCOUNT, numbers: [{ e164: '+15005550006', smsUrl: 'http://127.0.0.1/' }] });
    onTestFinished(() => phone.close());
    const h: ConsoleWorld = await openConsole({
      settings: {
        twilioAccountSid: ACCOUNT.accountSid,
        twilioAuthToken: ACCOUNT.authToken,
        twilioFrom: '+15005550006',
        twilioApiBase: phone.url,
      },
    });
    const ways: Partial<Record<Kind, ConsoleUse['way']>> = {};
    const faults = await withEachInputMethod(h, { isApart: true }, async (use) => {
      // The greeting before the name depends on the hour.
      await use.open('', `, ${use.person.name}`);
      Object.assign(use.way, { steps: 0 }).pages.splice(0, Infinity, '/');
      await doJob(use, phone);
      ways[use.kind] = use.way;
    });
    console.log(JSON.stringify(ways));
    expect(faults).toEqual([]);
    for (const way of Object.values(ways)) {
      expect(way.pages).toEqual(pages);
      expect(way.steps).toBeLessThanOrEqual(steps);
    }
  });
});
