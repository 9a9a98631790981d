import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole, type ConsoleWorld } from '#test/browser/console_world.ts';

/** A team with Anna on call, and Bram in it. */
async function givenTeam(h: ConsoleWorld) {
  const anna = await h.given.user({ name: 'Anna' });
  const bram = await h.given.user({ name: 'Bram' });
  const { teamId } = await h.expectOk('create_team', { name: 'Payments' });
  await h.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  await h.expectOk('add_team_member', { teamId, userId: bram.userId, phone: '+31612345679' });
  await h.expectOk('create_schedule', {
    teamId,
    name: 'Primary',
    startAt: '2020-01-01T00:00:00Z',
    rotationConfig: { userIds: [anna.userId] },
  });
  return { anna, bram, teamId };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** Presses keys as a person would, and counts them. */
function keyboardOf(page: Page) {
  let count = 0;
  return {
    count: () => count,
    async press(...keys: string[]) {
      for (const key of keys) {
        await page.keyboard.press(key);
        count += 1;
      }
    },
    async type(text: string) {
      await page.keyboard.type(text);
      count += text.length;
    },
  };
}

/** Number of keys in 45 seconds of somebody who types two a second. */
const KEYS_IN_45_SECONDS = 90;

inBrowser('teams, policies and the simulator', () => {
  test('a team is created, gets members with contacts, and is renamed and deleted', async () => {
    const h = await openConsole();
    await h.given.user({ name: 'Bram' });
    const { page } = await h.visitor({ name: 'Nora', path: '/oncall/teams', viewport: DESK });
    await page.getByText('No team yet').waitFor();
    await page.getByText('In no team').waitFor();
    await page.getByRole('button', { name: 'Create a team' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('A team needs a name').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Payments');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await heading(page, 'Payments');

    await page.getByRole('button', { name: 'Add a member' }).click();
    await page.getByRole('combobox', { name: 'Person' }).fill('nor');
    await page.getByRole('option', { name: /^Nora/ }).click();
    await page.getByLabel('Phone', { exact: true }).fill('0612345678');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByText('Include the country code').waitFor();
    await page.getByLabel('Phone', { exact: true }).fill('+31 6 1234 5678');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByText('+31612345678').waitFor();

    await page.getByRole('link', { name: 'Teams' }).first().click();
    await heading(page, 'Teams');
    await page.getByRole('button', { name: 'Add to a team: Bram' }).click();
    await page.getByRole('combobox', { name: 'Team', exact: true }).click();
    await page.getByRole('option', { name: 'Payments' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add to a team: Bram' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Payments' }).click();
    await heading(page, 'Payments');

    await page.getByRole('button', { name: 'Change Bram' }).click();
    await page.getByRole('menuitem', { name: 'Edit contact' }).click();
    await page.getByLabel('Phone', { exact: true }).fill('+31612345679');
    await page.getByRole('switch', { name: 'SMS' }).press('Space');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('+31612345679').waitFor();
    await page.getByRole('button', { name: 'Change Bram' }).click();
    await page.getByRole('menuitem', { name: 'Move up' }).click();
    const names = async () => await page.locator('main section li').filter({ hasText: '+31' }).allInnerTexts();
    await expect.poll(async () => (await names())[0]).toMatch(/^Bram/);
    const { teams } = await h.expectOk('list_teams');
    expect(teams[0].members).toMatchObject([
      { name: 'Bram', phone: '+31612345679', smsEnabled: false, callEnabled: true },
      { name: 'Nora', phone: '+31612345678' },
    ]);

    await page.getByRole('button', { name: 'Change Bram' }).click();
    await page.getByRole('menuitem', { name: 'Remove from the team' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Change Bram' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Refunds');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Refunds');
    await page.getByRole('button', { name: 'Delete the team' }).click();
    await page.getByLabel('Type Refunds to confirm').fill('Refunds');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No team yet').waitFor();
  });

  test('a policy of three steps is made by keyboard in fewer keys than 45 seconds have', async () => {
    const h = await openConsole();
    const { bram, teamId } = await givenTeam(h);
    const { page } = await h.visitor({ path: '/oncall/policies', viewport: DESK });
    await page.getByText('No policy yet').waitFor();
    await page.getByRole('button', { name: 'Create a policy' }).focus();
    const keys = keyboardOf(page);
    await keys.press('Enter');
    await heading(page, 'Create a policy');
    await page.getByLabel('Minutes after the trigger').waitFor();
    await page.getByLabel('Name', { exact: true }).focus();
    await keys.type('Wake up');
    await keys.press('Alt+Enter');
    await page.getByRole('group', { name: 'Step 2', exact: true }).waitFor();
    await keys.type('bram');
    await page.getByRole('option', { name: 'Bram' }).waitFor();
    await keys.press('Enter');
    await keys.press('Alt+Enter');
    await page.getByRole('group', { name: 'Step 3', exact: true }).waitFor();
    await keys.type('anna');
    await page.getByRole('option', { name: 'Anna' }).waitFor();
    await keys.press('Enter');
    await keys.type('any');
    await page.getByRole('option', { name: 'Who is on call in any schedule' }).waitFor();
    await keys.press('Enter', 'Control+Enter');
    await heading(page, 'Wake up');
    expect(keys.count()).toBeLessThan(KEYS_IN_45_SECONDS);
    const { teams } = await h.expectOk('list_teams');
    expect(teams[0].escalationPolicies).toMatchObject([
      {
        name: 'Wake up',
        teamId,
        steps: [
          { afterMinutes: 0, channels: ['push', 'sms'], targetUserIds: [], useSchedule: true },
          { afterMinutes: 5, channels: ['push', 'sms', 'call'], targetUserIds: [bram.userId] },
          { afterMinutes: 10, useSchedule: true },
        ],
      },
    ]);

    await page.keyboard.press('e');
    await heading(page, 'Edit Wake up');
    const second = page.getByRole('group', { name: 'Step 2', exact: true });
    await second.getByRole('combobox').focus();
    await page.keyboard.press('Alt+ArrowUp');
    await page.getByText('It is now step 1.').waitFor();
    await expect
      .poll(() =>
        page.evaluate(`document.activeElement.closest('[data-step]').querySelector('[role=group]').ariaLabel`),
      )
      .toBe('Step 1');
    await page.getByRole('button', { name: 'Repeat all steps' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Step 6', exact: true }).waitFor();
    await page.keyboard.press('Control+Enter');
    await heading(page, 'Wake up');
    await page.getByText('Step 6: ').waitFor({ state: 'attached' });
    const [policy] = (await h.expectOk('list_teams')).teams[0].escalationPolicies;
    expect(policy.steps.map(({ afterMinutes }: { afterMinutes: number }) => afterMinutes)).toEqual([
      0, 5, 10, 15, 20, 25,
    ]);
    expect(policy.steps[0].targetUserIds).toEqual([bram.userId]);
  });

  test('an edit survives a reload, and a change of somebody else is shown beside it', async () => {
    const h = await openConsole();
    const { teamId } = await givenTeam(h);
    const steps = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }];
    const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Wake up', steps });
    const { page } = await h.visitor({ path: `/oncall/policies/${policyId}/edit`, viewport: DESK });
    await heading(page, 'Edit Wake up');
    await page.getByLabel('Minutes after the trigger').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter whole minutes, 0 or more').waitFor();
    await page.getByLabel('Minutes after the trigger').fill('3');
    await page.getByRole('checkbox', { name: 'SMS' }).uncheck();
    await page.getByText('Choose at least one channel').waitFor();
    await page.getByRole('checkbox', { name: 'Mail' }).check();
    await page.reload();
    await page.getByText('This continues what you entered').waitFor();
    expect(await page.getByLabel('Minutes after the trigger').inputValue()).toBe('3');

    await h.expectOk('update_escalation_policy', {
      policyId,
      name: 'Wake everybody',
      steps: [{ ...steps[0], afterMinutes: 7 }],
    });
    await page.getByText('Somebody else changed this while you were editing.').waitFor();
    await page.getByText('After 7 min: on call by SMS').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Wake everybody');
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Steps: keep yours' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Wake everybody');
    const [policy] = (await h.expectOk('list_teams')).teams[0].escalationPolicies;
    expect(policy).toMatchObject({ name: 'Wake everybody', steps: [{ afterMinutes: 3, channels: ['email'] }] });
  });

  test('a template names the schedules of the team that is chosen after it', async () => {
    const h = await openConsole();
    await givenTeam(h);
    const { teamId } = await h.expectOk('create_team', { name: 'Refunds' });
    for (const name of ['First', 'Second']) await h.expectOk('create_schedule', { teamId, name });
    const { page } = await h.visitor({ path: '/oncall/policies/new', viewport: DESK });
    await page.getByRole('button', { name: /^Primary, then secondary/ }).click();
    const step = (number: number) => page.getByRole('group', { name: `Step ${number}`, exact: true });
    await step(2).getByText('Who is on call in any schedule').waitFor();
    await page.getByRole('combobox', { name: 'Team' }).fill('Refunds');
    await page.getByRole('option', { name: 'Refunds' }).click();
    await step(1).getByText('On call in First').waitFor();
    await step(2).getByText('On call in Second').waitFor();
    expect(
      await step(2)
        .getByRole('checkbox', { name: /^Not who is on call/ })
        .isChecked(),
    ).toBe(false);
  });

  test('on a phone a policy is made from a template, simulated at any time, and shown to somebody else', async () => {
    const twilio = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };
    const h = await openConsole({ settings: twilio });
    await givenTeam(h);
    const { page } = await h.visitor({ path: '/oncall/policies', viewport: PHONE, hasTouch: true });
    await page.getByRole('button', { name: /^Wake the people on call, then everybody/ }).tap();
    await heading(page, 'Create a policy');
    await page.getByRole('region', { name: 'If an incident opened now' }).getByText('Bram').last().waitFor();
    await page.getByRole('button', { name: 'Create' }).tap();
    await heading(page, 'Wake the people on call');
    await page.getByText('No rule pages by this policy yet.').waitFor();
    const [{ policyId }] = (await h.expectOk('list_teams')).teams[0].escalationPolicies;
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await h.expectOk('create_alert_rule', {
      serviceId,
      name: 'Slow',
      kind: 'exception',
      config: {},
      escalationPolicyId: policyId,
    });
    await page.reload();
    await page.getByRole('button', { name: 'Simulate' }).tap();
    await heading(page, 'Simulator');
    await page.getByText(/^2 people get \d+ messages/).waitFor();
    await page.getByLabel('Time', { exact: true }).fill('2026-12-24T03:00');
    await page.waitForURL(/at=2026-12-2/);
    await page.getByText('Primary: Anna').first().waitFor();

    const other = await h.visitor({ role: 'viewer', name: 'Vera', viewport: DESK });
    await other.page.goto(page.url());
    await heading(other.page, 'Simulator');
    await other.page.getByText('Primary: Anna').first().waitFor();
    expect(await other.page.getByLabel('Time', { exact: true }).inputValue()).toBe('2026-12-24 03:00');
    await other.page.goto(`${h.baseUrl}/oncall/policies/${policyId}`);
    await heading(other.page, 'Wake the people on call');
    expect(await other.page.getByRole('button', { name: /^(?:Edit|Delete)/ }).count()).toBe(0);

    await page.goto(`${h.baseUrl}/oncall/policies/${policyId}`);
    await page.getByRole('button', { name: 'Delete the policy' }).tap();
    await page.getByText('The 1 rule that uses it stays').waitFor();
    await page.getByLabel('Type Wake the people on call to confirm').fill('Wake the people on call');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).tap();
    await page.getByText('No policy yet').waitFor();
  });
});
