import { expect, onTestFinished, test } from 'vitest';

import { isolateBidi } from '#console/components/text/bidi.ts';
import { newId } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { loaded } from '#test/browser/input.ts';
import { type ConsoleUse, withEachInputMethod } from '#test/flows/input_methods.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#test/kit/programs/webhook_receiver.ts';

inBrowser('with a mouse, the keyboard alone, and a thumb', () => {
  test('people set up where incidents are told of, and what readers of a status page see', async () => {
    const h = await openConsole();
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const incidents = new Map<string, string>();
    for (const name of ['Mia', 'Kim', 'Tom']) {
      const { serviceId } = await h.given.service({ name: `checkout of ${name}` });
      incidents.set(name, await h.incident(serviceId, `db-1 of ${name} is full`));
    }
    const faults = await withEachInputMethod(h, {}, async (use) => {
      await setUpPlace(receiver, use);
      await showStatus(h, incidents.get(use.person.name)!, use);
    });
    expect(faults).toEqual([]);
  });

  test('owners say who may enter, from where, and what of it is recorded elsewhere', async () => {
    const h = await openConsole();
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    for (const name of ['Mia', 'Kim', 'Tom']) {
      await givenPerson(h, { role: 'editor', name: `Friendof${name}` });
      await giveGroup(h, `Group of ${name}`);
    }
    const faults = await withEachInputMethod(h, {}, async (use) => {
      await use.alone(() => connectProvider(h, use));
      await addDomain(use);
      await use.alone(() => limitNetworks(use));
      await endSessions(h, use);
      await use.alone(() => provision(h, use));
      await mapGroup(use);
      await use.alone(() => streamAuditLog(receiver, use));
    });
    expect(faults).toEqual([]);
  });
});

async function setUpPlace(receiver: WebhookReceiver, use: ConsoleUse) {
  const { page, dialog, own, open, button, press, write, pick, sees, isClosed } = use;
  await open('settings/places', 'Chat and webhooks');
  await press(button('Add a place'));
  await pick(dialog.getByRole('combobox', { name: 'Kind' }), 'Webhook');
  await write(dialog.getByRole('textbox', { name: /^Name/ }), own('Board'));
  await write(dialog.getByLabel('Address'), 'no address');
  await press(button('Add', dialog));
  await dialog
    .getByText(/^must /)
    .first()
    .waitFor();
  await write(dialog.getByLabel('Address'), receiver.url);
  await pick(dialog.getByRole('combobox', { name: 'Severity at least' }), 'error');
  await press(button('Add', dialog));
  await dialog.getByText(/^whsec_/).waitFor();
  await press(button('I have copied it', dialog));
  await isClosed();
  const card = page.getByRole('region', { name: own('Board') });
  const before = receiver.received.length;
  await press(button('Send a test', card));
  await sees('A test is on its way; the deliveries say what came of it.');
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThan(before);
  await press(button('Deliveries', card));
  await press(button('Details', dialog));
  await dialog.getByText('thanks').waitFor();
  await press(button('Send again', dialog));
  await sees('It is sent again.');
  await press(button('Close', dialog));
  await isClosed();
  await press(button('Change', card));
  await write(dialog.getByRole('textbox', { name: /^Name/ }), own('Wall'));
  await press(button('Add others', dialog));
  await press(button('Remove the last', dialog));
  await press(button('Save', dialog));
  await isClosed();
  const changed = page.getByRole('region', { name: own('Wall') });
  await press(button('Switch off', changed));
  await changed.getByText('Off', { exact: true }).waitFor();
  await press(button('Link Slack'));
  await sees(/^\/oncall link [A-Z0-9]{10}$/);
  await press(button('Delete', changed));
  await press(button('Delete', dialog));
  await sees(`${own('Wall')} is deleted.`);
  await isClosed();
}

async function showStatus(h: ConsoleWorld, incidentId: string, use: ConsoleUse) {
  const { kind, person, page, dialog, own, open, button, press, write, choose, pick, sees, isClosed } = use;
  const title = `db-1 of ${person.name} is full`;
  await open('settings/status-pages', 'Status pages');
  await press(button('Add a status page'));
  await press(button('Add', dialog));
  await dialog.getByText('Enter what readers see at the top').waitFor();
  await write(dialog.getByLabel('Title', { exact: true }), own('Status'));
  await write(dialog.getByLabel('Last part of the address'), `status-${kind}`);
  await press(button('Add a service', dialog));
  await pick(dialog.getByRole('combobox', { name: 'Service' }), own('checkout'));
  await write(dialog.getByLabel('Public name'), 'Payments');
  await press(button('Add', dialog));
  await isClosed();
  const card = page.getByRole('region', { name: own('Status') });
  await card.getByText('1 service · 0 subscribers by mail').waitFor();

  await open(`incidents/${incidentId}`, title);
  await press(button('Publish'));
  await chooseStatusPage(use);
  await press(button('Publish', dialog));
  await dialog.getByText('Say in a sentence what readers notice').waitFor();
  await write(dialog.getByLabel('Public title'), 'Payments are slow');
  await choose(dialog.getByLabel('Stage'), 'Watching');
  await write(dialog.getByLabel('Text for readers'), 'We are looking into it.');
  await press(button('Publish', dialog));
  await sees('Readers see it within ten seconds.');
  await isClosed();

  await page.goto(`${h.baseUrl}/status/status-${kind}`);
  await page.getByText('Payments are slow').waitFor();
  expect(await page.content()).not.toMatch(/checkout|db-1/);
  await write(page.getByLabel('Your mail address'), `reader.${kind}@example.org`);
  await press(page.getByRole('button', { name: 'Subscribe' }));
  await sees('Look into your mailbox.');

  await open(`incidents/${incidentId}`, title);
  await press(button('Publish'));
  await chooseStatusPage(use);
  await press(button('Retract all of it', dialog));
  await press(button('Retract', dialog));
  await sees('It is on the page no more.');
  await press(button('Close', dialog));
  await isClosed();
  await open('settings/status-pages', 'Status pages');
  await press(button('Delete', card));
  await press(button('Delete', dialog));
  await sees(`${own('Status')} is deleted.`);
  await isClosed();
}

/** Chooses the page of this person once the dialog has loaded: the others may have none at that moment. */
async function chooseStatusPage({ dialog, own, choose }: ConsoleUse) {
  await dialog.getByLabel('Public title').waitFor();
  const pages = dialog.getByLabel('Status page');
  if ((await pages.count()) > 0) await choose(pages, isolateBidi(own('Status')));
}

async function connectProvider(
  h: ConsoleWorld,
  { page, dialog, open, button, press, write, choose, sees, isClosed }: ConsoleUse,
) {
  await open('settings/sign-in', 'Sign-in');
  await page.reload();
  await loaded(page, 'Sign-in');
  await press(button('Connect a provider'));
  await write(dialog.getByLabel('Issuer'), 'login.example.com');
  await press(button('Save', dialog));
  await dialog.getByText('Enter an address that begins with https://').waitFor();
  await write(dialog.getByLabel('Issuer'), 'https://login.example.com');
  await write(dialog.getByLabel('Client id'), 'tocsin');
  await write(dialog.getByLabel('Client secret'), 'what the provider has shown');
  await choose(dialog.getByLabel('Role of new members'), 'viewer');
  await write(dialog.getByLabel('Claim for roles'), 'groups');
  await press(button('Add a value', dialog));
  await write(dialog.getByLabel('Value 1', { exact: true }), 'on-call');
  await press(button('Remove value 1', dialog));
  await press(dialog.getByRole('switch', { name: 'People can sign in through it' }));
  await press(button('Save', dialog));
  await dialog.getByText(/^Has no discovery document/).waitFor();
  await press(button('Cancel', dialog));
  await press(button('Drop it'));
  await isClosed();
  await giveProvider(h);
  await page.reload();
  await loaded(page, 'Sign-in');
  await press(button('Edit'));
  await press(button('Cancel', dialog));
  await isClosed();
  await press(button('Disconnect'));
  await press(button('Disconnect', dialog));
  await sees('The provider is disconnected.');
  await isClosed();
}

/** Stores the connection to a provider that cannot be asked from here. */
async function giveProvider(h: ConsoleWorld) {
  await storesOf(h.context.db.session()).openId.saveConnection({
    orgId: h.orgId,
    issuer: 'https://login.example.com',
    clientId: 'tocsin',
    clientSecretSealed: h.context.actions.installation.ciphers.openIdSecrets.encrypt('what the provider has shown'),
    scope: 'openid email profile',
    isEnabled: true,
    isRequired: false,
    trustsSecondFactor: false,
    defaultRole: 'viewer',
    roleClaim: null,
    roleMap: [],
    lastFault: null,
    lastFaultAt: null,
    createdAt: h.clock.now(),
    updatedAt: h.clock.now(),
  });
}

async function addDomain({ kind, page, button, press, write, sees }: ConsoleUse) {
  const domain = `${kind}.example`;
  const card = page.getByRole('region', { name: 'Mail domains' });
  await press(button('Add', card));
  await sees('Enter a domain, such as example.com');
  await write(card.getByLabel('Add a domain'), domain);
  await press(button('Add', card));
  await press(button(`Remove ${domain}`));
  await button(`Remove ${domain}`).waitFor({ state: 'detached' });
}

async function limitNetworks({ page, open, button, press, write, sees }: ConsoleUse) {
  await open('settings/sign-in', 'Sign-in');
  await page.reload();
  await loaded(page, 'Sign-in');
  await write(page.getByLabel('People act in the console from'), '192.0.2.0/24');
  await press(button('Save networks'));
  await sees('The networks were not saved');
  await write(page.getByLabel('People act in the console from'), '127.0.0.0/8');
  await press(button('Save networks'));
  await sees('The networks are saved.');
  await page.getByText('The networks are saved.').first().waitFor({ state: 'detached' });
  await write(page.getByLabel('People act in the console from'), '');
  await press(button('Save networks'));
  await sees('The networks are saved.');
}

async function endSessions(h: ConsoleWorld, { page, dialog, person, open, button, press, sees, isClosed }: ConsoleUse) {
  const friend = `Friendof${person.name}`;
  const { email } = (await h.context.db.sql.row<{ email: string }>('select email from users where name = $1', [
    friend,
  ]))!;
  const browser = await signedIn(h, email);
  await open('settings/sign-in', 'Sign-in');
  await page.reload();
  await loaded(page, 'Sign-in');
  await press(button(`Log out ${friend} everywhere`));
  await press(button('Log out', dialog));
  await sees(`${friend} is logged out.`);
  await isClosed();
  expect((await browser.get('/session')).status).toBe(401);
}

async function provision(
  h: ConsoleWorld,
  { kind, page, dialog, open, button, press, choose, sees, isClosed }: ConsoleUse,
) {
  await open('settings/provisioning', 'Provisioning');
  await page.reload();
  await loaded(page, 'Provisioning');
  await press(button('Create a token'));
  const shown = page.getByText(/^tocsin_\w+$/);
  await expect.poll(() => shown.count()).toBe(1);
  const first = await shown.innerText();
  await press(button('Replace the token'));
  await press(button('Replace the token', dialog));
  await isClosed();
  await expect.poll(() => shown.innerText()).not.toBe(first);
  const ask = async (token: string) =>
    (await h.app.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })).statusCode;
  expect([await ask(first), await ask(await shown.innerText())]).toEqual([401, 200]);
  const roles = { mouse: 'editor', keyboard: 'responder', touch: 'admin' } as const;
  await choose(page.getByRole('combobox', { name: 'Role of new people' }), roles[kind]);
  await press(button('Save the role'));
  await sees(`New people come in as ${roles[kind]}.`);
  await press(button('Revoke the token'));
  await press(button('Revoke the token', dialog));
  await sees('The token is revoked.');
  await isClosed();
}

/** Stores a group as an identity provider sends one. */
async function giveGroup(h: ConsoleWorld, displayName: string) {
  const now = h.clock.now();
  const mapping = { teamId: null, role: null, externalId: null };
  const group = { id: newId('scimgroup'), orgId: h.orgId, displayName, ...mapping, version: 1 };
  await storesOf(h.context.db.session()).scimGroups.insert({ ...group, createdAt: now, updatedAt: now });
}

async function mapGroup({ page, person, open, button, press, choose, sees }: ConsoleUse) {
  await open('settings/provisioning', 'Provisioning');
  await page.reload();
  await loaded(page, 'Provisioning');
  const group = `Group of ${person.name}`;
  await choose(page.getByLabel(`Role of ${group}`), 'responder');
  await press(button(`Map ${group}`));
  await sees('The group is mapped.');
}

async function streamAuditLog(receiver: WebhookReceiver, use: ConsoleUse) {
  const { page, dialog, open, button, press, write, isClosed } = use;
  await open('settings/audit', 'Audit log');
  await page.reload();
  await loaded(page, 'Audit log');
  await press(button('Streams'));
  await write(dialog.getByLabel('Address'), 'nowhere');
  await press(button('Add a stream', dialog));
  await dialog
    .getByText(/^Must /)
    .first()
    .waitFor();
  const before = receiver.received.length;
  await write(dialog.getByLabel('Address'), receiver.url);
  await press(button('Add a stream', dialog));
  await dialog.getByText(/^whsec_/).waitFor();
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThan(before);
  await press(button('Switch off', dialog));
  await dialog.getByText('Off', { exact: true }).waitFor();
  await press(button('Delete', dialog));
  await dialog.getByText('The audit log is streamed nowhere yet.').waitFor();
  await press(button('Close', dialog));
  await isClosed();
}
