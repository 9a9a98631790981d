import { createECDH, randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { loaded, reach } from '#test/browser/input.ts';
import { type ConsoleUse, withEachInputMethod } from '#test/flows/input_methods.ts';
import { UNREACHABLE_TWILIO } from '#test/flows/unreachable_twilio.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';

const PHONES = { mouse: '+31612345671', keyboard: '+31612345672', touch: '+31612345673' } as const;

inBrowser('with a mouse, the keyboard alone, and a thumb', () => {
  test('people look after the organization and after how they are reached', async () => {
    const h = await openConsole({ settings: UNREACHABLE_TWILIO });
    const friends = ['Mia', 'Kim', 'Tom'].map((name) => `Friend of ${name}`);
    // Longer lists can be searched.
    const others = Array.from({ length: 8 }, (_, index) => `Colleague ${index}`);
    for (const name of [...friends, ...others]) await givenPerson(h, { role: 'editor', name });
    const faults = await withEachInputMethod(h, {}, async (use) => {
      await giveConnectionAndDevice(h, use);
      await lookAfterMembers(use);
      await makeKey(h, use);
      await disconnectApp(use);
      await use.alone(() => limitAgents(use));
      await readAuditLog(use);
      await use.alone(() => linkTraces(use));
      await lookAfterMe(h, use);
    });
    expect(faults).toEqual([]);
  });
});

async function giveConnectionAndDevice(h: ConsoleWorld, { person, own }: ConsoleUse) {
  await storesOf(h.context.db.session()).connections.insert({
    connectionId: newId('connection'),
    orgId: h.orgId,
    userId: person.userId,
    clientId: `client_of_${person.name}`,
    clientName: own('Ada'),
    clientUri: null,
    access: 'read_only',
    createdAt: h.clock.now(),
    lastUsedAt: null,
  });
  const pair = createECDH('prime256v1');
  const keys = { p256dh: pair.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') };
  const device = { endpoint: `https://push.example.com/send/${person.name}`, keys, label: 'Chrome on Linux' };
  const browser = await signedIn(h, person.email);
  expect((await browser.invoke(h.orgId, 'create_push_subscription', device)).status).toBe(200);
}

async function lookAfterMembers(use: ConsoleUse) {
  const { kind, page, dialog, person, own, open, button, press, write, choose, sees, isClosed } = use;
  const friend = `Friend of ${person.name}`;
  await open('settings/members', 'Members');
  await write(page.getByLabel('Search members'), friend);
  await page
    .getByRole('status')
    .filter({ hasText: /^1 member$/ })
    .waitFor();
  const role = page.getByLabel(`Role of ${friend}`, { exact: true });
  if (kind === 'keyboard') {
    // The first key that changes it asks.
    await reach(role);
    await page.keyboard.press('ArrowDown');
  } else {
    await choose(role, 'responder');
  }
  await press(button('Make responder', dialog));
  await sees(`${friend} is now responder.`);
  await isClosed();
  await press(button(`Remove ${friend}`));
  await press(button('Remove', dialog));
  await sees(`${friend} is removed.`);
  await isClosed();

  await press(button('Invite somebody'));
  await write(dialog.getByLabel('Mail address'), 'nobody');
  await press(button('Invite', dialog));
  await dialog.getByText('Enter a mail address').waitFor();
  const email = `friend.of.${person.name.toLowerCase()}@example.com`;
  await write(dialog.getByLabel('Mail address'), email);
  await choose(dialog.getByLabel('Role', { exact: true }), 'viewer');
  await press(button('Invite', dialog));
  await press(button('Done', dialog));
  await isClosed();
  await press(button(`Revoke the invitation of ${email}`));
  await press(button('Revoke', dialog));
  await sees(`The invitation of ${email} is revoked.`);
  await isClosed();

  await use.alone(async () => {
    await open('settings/general', 'General');
    await page.reload();
    await loaded(page, 'General');
    await write(page.getByLabel('Name of the organization'), own('Acme'));
    await press(button('Rename'));
    await sees('The organization was renamed.');
  });
}

async function makeKey(h: ConsoleWorld, { page, dialog, own, open, button, press, write, sees, isClosed }: ConsoleUse) {
  await open('settings/api-keys', 'API keys');
  await press(button('Create an API key'));
  await press(button('Create', dialog));
  await dialog.getByText('Enter a name').waitFor();
  await write(dialog.getByLabel('Name'), own('Deploys'));
  await press(dialog.getByRole('radio', { name: 'The organization' }));
  await press(dialog.getByRole('radio', { name: 'Some things' }));
  await press(dialog.getByRole('checkbox', { name: 'See services, their keys and what they send' }));
  await press(button('Create', dialog));
  const key = await page.getByText(/^tocsin_key_\w+$/).innerText();
  await press(button('I have copied it', dialog));
  await isClosed();
  expect((await h.call('list_services', {}, { key })).status).toBe(200);
  await press(button(`Revoke ${own('Deploys')}`));
  await press(button('Revoke', dialog));
  await sees(`${own('Deploys')} is revoked.`);
  await isClosed();
  expect((await h.call('list_services', {}, { key })).status).toBe(401);
}

async function disconnectApp({ page, dialog, person, own, open, button, press, isClosed }: ConsoleUse) {
  await open('settings/apps', 'Connected apps');
  await press(button(`Disconnect ${own('Ada')} of ${person.name}`));
  await press(button('Disconnect', dialog));
  await isClosed();
  await page.getByText(own('Ada')).first().waitFor({ state: 'detached' });
}

async function limitAgents({ kind, page, open, button, press, write, sees }: ConsoleUse) {
  await open('settings/agents', 'AI agents');
  await page.reload();
  await loaded(page, 'AI agents');
  const limit = { mouse: '21', keyboard: '22', touch: '23' }[kind];
  await write(page.getByLabel('Changes of one agent within an hour'), limit);
  await press(button('Save limits'));
  await sees('The limits are saved.');
}

async function readAuditLog({ page, dialog, open, button, press, write, pick, sees, isClosed }: ConsoleUse) {
  await open('settings/audit', 'Audit log');
  // On a phone the filters are shown when they are wanted.
  if (await button('Filter').isVisible()) await press(button('Filter'));
  await pick(page.getByRole('combobox', { name: 'Action' }), 'Revoke an invitation');
  await page.waitForURL(/action=revoke_invitation/);
  await press(button('Revoke an invitation: show what changed'));
  await dialog.getByText('revoke_invitation').first().waitFor();
  await press(button('Close', dialog));
  await isClosed();
  await press(button('Export'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    press(page.getByRole('menuitem', { name: 'As CSV' })),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  await write(page.getByRole('textbox', { name: 'From' }), '2020-01-01');
  await write(page.getByRole('textbox', { name: 'To' }), '2020-01-31');
  await sees('Nothing matches');
}

async function linkTraces({ person, page, open, button, press, write, sees }: ConsoleUse) {
  await open('settings/integrations', 'Integrations');
  await page.reload();
  await loaded(page, 'Integrations');
  const traces = page.getByRole('region', { name: 'Traces' });
  await write(page.getByLabel('Address of a trace'), 'ftp://traces/{traceId}');
  await press(button('Save', traces));
  await sees(/begins with https/);
  await write(page.getByLabel('Address of a trace'), `https://traces.example.com/${person.name}/{traceId}`);
  await press(button('Save', traces));
  await sees('Trace ids are links now.');
}

async function lookAfterMe(h: ConsoleWorld, use: ConsoleUse) {
  const { kind, page, dialog, person, own, open, button, press, write, sees, isClosed } = use;
  const phone = PHONES[kind];
  await open('me', person.name);
  const card = page.getByRole('region', { name: 'Your phone' });
  await write(card.getByLabel('Phone', { exact: true }), '0612');
  await press(button('Save', card));
  await sees('Include the country code');
  await write(card.getByLabel('Phone', { exact: true }), phone);
  await press(card.getByRole('switch', { name: 'Phone call' }));
  await press(button('Save', card));
  await sees('Your contact details are saved.');
  await press(button('Send a code'));
  const codeSent = async () =>
    (await h.context.db.sql.rows<{ code: string }>('select code from phone_codes where phone = $1', [phone]))[0]?.code;
  await expect.poll(codeSent).toBeDefined();
  await write(page.getByLabel('Code', { exact: true }), 'none');
  await press(button('Confirm'));
  await sees('Enter the six digits from the SMS');
  await write(page.getByLabel('Code', { exact: true }), (await codeSent())!);
  await press(button('Confirm'));
  await sees(`${phone} is confirmed.`);

  await press(button('Remove Chrome on Linux'));
  await press(button('Remove', dialog));
  await isClosed();
  await button('Remove Chrome on Linux').waitFor({ state: 'detached' });

  await press(button('Your calendar'));
  await press(button('Show your address', dialog));
  await press(button('Create an address', dialog));
  const address = await dialog.getByText(/\/api\/calendar\/.*\.ics$/).innerText();
  await press(button('Revoke', dialog));
  await press(button('Revoke', page.getByRole('dialog', { name: 'Revoke the address?' })));
  await sees('The address of your shifts no longer works.');
  await isClosed();
  expect((await fetch(address)).status).toBe(404);

  await press(button('Log out everywhere else'));
  await press(button('Log out', dialog));
  await sees('You are logged out everywhere else.');
  await isClosed();
  const account = page.getByRole('region', { name: 'Account' });
  await write(account.getByLabel('Name', { exact: true }), own('Nova'));
  await press(button('Save', account));
  await sees('Your name was changed.');
}
