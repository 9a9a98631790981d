import { expect, test } from 'vitest';

import {
  type Browser,
  givenPerson,
  givePassword,
  openBrowser,
  PASSWORD,
  signedIn,
} from '#test/kit/programs/browser.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { type World, world } from '#test/kit/world.ts';

async function ownedWorld(): Promise<{ w: World; olga: Browser; invite: Invite }> {
  const w = await world();
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  return { w, olga, invite: (email, role = 'editor', by = olga) => inviteBy(w, by, email, role) };
}

type Invite = (email: string, role?: string, by?: Browser) => Promise<{ token: string; invitationId: string }>;

async function inviteBy(w: World, browser: Browser, email: string, role: string) {
  const answer = await browser.invoke(w.orgId, 'create_invitation', { email, role });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { link, invitationId, isMailed } = answer.body.result;
  return { token: (link as string).split('/').at(-1)!, invitationId: invitationId as string, isMailed };
}

const NEW = { name: 'Nora', password: PASSWORD };

test('an invited person makes an account and is a member, once', async () => {
  const { w, olga, invite } = await ownedWorld();
  const { token, invitationId } = await invite('nora@example.com');
  const browser = openBrowser(w);
  expect((await browser.get(`/invitations/${token}`)).body.result).toEqual({
    organization: { name: 'Acme' },
    email: 'nora@example.com',
    role: 'editor',
    invitedBy: 'Olga',
    hasAccount: false,
  });
  expect((await browser.post(`/invitations/${token}`, {})).body.errors).toHaveLength(2);
  expect((await browser.post(`/invitations/${token}`, { ...NEW, password: 'nora@example.com' })).status).toBe(400);

  const answers = await Promise.all([1, 2, 3].map(() => openBrowser(w).post(`/invitations/${token}`, NEW)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses[0]).toBe(200);
  for (const status of statuses.slice(1)) expect([404, 409]).toContain(status);
  expect((await browser.get(`/invitations/${token}`)).status).toBe(404);
  const nora = await signedIn(w, 'nora@example.com');
  expect((await nora.get('/session')).body.result.organizations).toMatchObject([{ orgId: w.orgId, role: 'editor' }]);
  const { invitations } = (await olga.invoke(w.orgId, 'list_invitations')).body.result;
  expect(invitations).toMatchObject([{ invitationId, status: 'accepted', invitedBy: 'Olga', teamIds: [] }]);
});

test('a person with an account joins with its password or their session, and not as anybody else', async () => {
  const { w, invite } = await ownedWorld();
  const other = await w.given.organization('Other');
  const bram = await givenPerson(w, { name: 'Bram', orgId: other.orgId });
  const eva = await givenPerson(w, { name: 'Eva', orgId: other.orgId });
  const first = await invite(bram.email.toUpperCase());
  const asEva = await signedIn(w, eva.email);
  expect((await asEva.get(`/invitations/${first.token}`)).body.result.hasAccount).toBe(true);
  expect((await asEva.post(`/invitations/${first.token}`, {})).status).toBe(400);
  const wrong = await asEva.post(`/invitations/${first.token}`, { password: 'something else' });
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, 'password']);
  expect((await asEva.get('/session')).status).toBe(200);
  expect((await asEva.post(`/invitations/${first.token}`, { name: 'B', password: PASSWORD })).status).toBe(400);
  const joined = await openBrowser(w).post(`/invitations/${first.token}`, { password: PASSWORD });
  expect(joined.body.result.organizations.map(({ name }: { name: string }) => name)).toEqual(['Acme', 'Other']);

  const second = await invite(eva.email);
  expect((await asEva.post(`/invitations/${second.token}`, {})).status).toBe(200);
});

test('a link ends after seven days, when it is revoked, and when a newer one is sent', async () => {
  const { w, olga, invite } = await ownedWorld();
  const [old, revoked] = [await invite('a@example.com'), await invite('b@example.com')];
  const newer = await invite('A@example.com', 'viewer');
  const status = async (token: string) => (await openBrowser(w).get(`/invitations/${token}`)).status;
  expect((await olga.invoke(w.orgId, 'revoke_invitation', { invitationId: revoked.invitationId })).status).toBe(200);
  expect((await olga.invoke(w.orgId, 'revoke_invitation', { invitationId: revoked.invitationId })).status).toBe(404);
  expect(await Promise.all([old, revoked, newer].map(({ token }) => status(token)))).toEqual([404, 404, 200]);
  w.clock.advance({ hours: 7 * 24 });
  expect(await status(newer.token)).toBe(404);
  const { invitations } = (await olga.invoke(w.orgId, 'list_invitations')).body.result;
  expect(invitations).toMatchObject([{ email: 'A@example.com', status: 'expired' }]);
});

test('an invitation allows no more than its author may allow now', async () => {
  const { w, olga, invite } = await ownedWorld();
  const ada = await givenPerson(w, { role: 'admin', name: 'Ada' });
  const asAda = await signedIn(w, ada.email);
  const { token } = await invite('friend@example.com', 'admin', asAda);
  expect((await asAda.invoke(w.orgId, 'create_invitation', { email: 'o@example.com', role: 'owner' })).status).toBe(
    403,
  );
  await olga.post(`/organizations/${w.orgId}/actions/remove_member`, { userId: ada.userId });
  expect((await openBrowser(w).post(`/invitations/${token}`, NEW)).status).toBe(404);
});

test('a member is not invited again', async () => {
  const { w, olga } = await ownedWorld();
  const answer = await olga.invoke(w.orgId, 'create_invitation', { email: w.owner.email, role: 'viewer' });
  expect(answer.status).toBe(409);
});

test('the link is mailed where the server sends mail, and nothing that is stored has it', async () => {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'tocsin@example.com' } });
  await givePassword(w, w.owner.userId);
  const { token, isMailed } = await inviteBy(w, await signedIn(w, w.owner.email), 'nora@example.com', 'editor');
  expect(isMailed).toBe(true);
  await w.runUntilIdle();
  expect(post.mails.map(({ recipients }) => recipients)).toEqual([['nora@example.com']]);
  expect(post.mails[0]!.subject).toBe('[Tocsin] Olga invites you to Acme');
  const mailed = post.linksOf(post.mails[0]!)['Accept the invitation']!;
  expect(mailed).toMatch(/^http:\/\/tocsin\.test\/invitation\/tocsin_inv_\w+$/);
  // What its author is shown proves nothing about who reads the mail.
  expect(mailed).not.toContain(token);
  const tables = ['invitations', 'audit_log', 'outbox'].map((table) => `select t::text as row from ${table} t`);
  const rows = await w.context.db.sql.rows<{ row: string }>(tables.join(' union all '));
  for (const secret of [token, mailed.split('/').at(-1)!]) {
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(secret);
  }
  expect((await openBrowser(w).post(`/invitations/${mailed.split('/').at(-1)}`, NEW)).status).toBe(200);
  const proven = await w.context.db.sql.rows(
    `select address_proven_at is not null as "isProven" from users where email = 'nora@example.com'`,
  );
  expect(proven).toEqual([{ isProven: true }]);
});

test('whoever accepts joins the teams of the invitation that are still there, and nobody names a team of others', async () => {
  const { w, olga } = await ownedWorld();
  const { orgKey: key } = await w.given.organization('Globex');
  const { teamId: foreign } = await w.expectOk('create_team', { name: 'Theirs' }, { key });
  const [kept, gone] = [
    await w.expectOk('create_team', { name: 'Payments' }),
    await w.expectOk('create_team', { name: 'Gone' }),
  ];
  const invite = (teamIds: readonly string[]) =>
    olga.invoke(w.orgId, 'create_invitation', { email: 'nora@example.com', role: 'responder', teamIds });
  expect(await invite([kept.teamId, foreign])).toMatchObject({
    status: 404,
    body: { errors: [{ path: 'teamIds[1]' }] },
  });
  const { link } = (await invite([kept.teamId, gone.teamId])).body.result;
  await w.expectOk('delete_team', { teamId: gone.teamId });
  expect((await openBrowser(w).post(`/invitations/${link.split('/').at(-1)}`, NEW)).status).toBe(200);
  const { members } = (await olga.invoke(w.orgId, 'list_members', { text: 'Nora' })).body.result;
  expect(members).toMatchObject([{ teams: [{ name: 'Payments' }], hasSecondFactor: false }]);
  const nora = await signedIn(w, 'nora@example.com');
  const seen = (await nora.invoke(w.orgId, 'list_members', { text: 'Nora' })).body.result;
  expect(seen.members).toMatchObject([{ hasSecondFactor: null }]);
});

test.each([
  ['viewer', 1],
  ['responder', 0],
])('owners are told by mail when a %s joins a team whose members are paged: %d mails', async (role, mails) => {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'tocsin@example.com' } });
  await givePassword(w, w.owner.userId);
  const olga = await signedIn(w, w.owner.email);
  const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
  await w.expectOk('add_team_member', { teamId, userId: w.owner.userId });
  const step = { afterMinutes: 0, channels: ['email'], targetUserIds: [], useSchedule: false, members: { teamId } };
  const policy = await olga.invoke(w.orgId, 'add_escalation_policy', { teamId, name: 'All of them', steps: [step] });
  expect(policy.status, JSON.stringify(policy.body)).toBe(200);
  const invitation = { email: 'nora@example.com', role, teamIds: [teamId] };
  const { link } = (await olga.invoke(w.orgId, 'create_invitation', invitation)).body.result;
  await w.runUntilIdle();
  const before = post.mails.length;
  expect((await openBrowser(w).post(`/invitations/${link.split('/').at(-1)}`, NEW)).status).toBe(200);
  await w.runUntilIdle();
  const told = post.mails.slice(before).filter(({ recipients }) => recipients.includes(w.owner.email));
  expect(told).toHaveLength(mails);
  for (const { text } of told) expect(text).toContain('Nora became viewer and may not answer pages');
});
