import { expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import type { Mail, MailServer } from '#test/kit/programs/mail_server.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { type Alert, type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface MailedWorld {
  readonly w: StaffedWorld;
  readonly post: MailServer;
  readonly anna: Responder;
  readonly bram: Responder;
  readonly alert: Alert;
}

/** Anna is mailed at once; Bram gets an SMS after a quarter of an hour. */
async function annaIsMailed(): Promise<MailedWorld> {
  const post = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['email'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['email', 'sms'], targetUserIds: [anna.userId, bram.userId] },
  ]);
  return { w, post, anna, bram, alert };
}

async function mailedIncident() {
  const world = await annaIsMailed();
  const incidentId = await world.alert.trigger('latency is 250 <b>(> 100)</b>');
  await world.w.runUntilIdle();
  const [mail] = world.post.mails;
  return { ...world, incidentId, mail: mail!, links: world.post.linksOf(mail!) };
}

const header = (mail: Mail, key: string) => mail.headers.find((found) => found.key === key)?.value;

/** Follows a link of a mail, as a browser does. */
async function follow(w: StaffedWorld, link: string | undefined, method: 'GET' | 'POST' = 'GET') {
  const url = link?.replace('http://tocsin.test', '') ?? '';
  const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const { statusCode, body, headers } = await w.app.inject({ method, url, headers: form, payload: '' });
  return { status: statusCode, body, headers };
}

const audited = (w: StaffedWorld) =>
  w.context.db.sql.rows<{ action: string; result: string; via: string; actor: object; after: object }>(
    `select action, result, via, actor, after from audit_log where action in ('acknowledge_incident', 'resolve_incident', 'delete_incident') order by id`,
  );

test('a page by mail says what happened, in text and in HTML without injection', async () => {
  const { w, mail, anna, links, incidentId } = await mailedIncident();
  expect(mail).toMatchObject({
    recipients: [anna.email],
    from: { name: 'Tocsin', address: 'tocsin@example.com' },
    subject: expect.stringMatching(/^\[Tocsin\] checkout: latency is 250 <b>\(> 100\)<\/b> \(#\d+\)$/),
  });
  expect(header(mail, 'auto-submitted')).toBe('auto-generated');
  expect(mail.text).toContain('severity error');
  expect(mail.html).toContain('latency is 250 &lt;b&gt;(&gt; 100)&lt;/b&gt;');
  expect(mail.html).not.toContain('<b>');
  expect(links['Open']).toBe(`http://tocsin.test/incidents/${incidentId}?org=${w.orgId}`);
});

test('the log says that the mail was sent, with its Message-ID', async () => {
  const { w, mail, incidentId } = await mailedIncident();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications).toMatchObject([{ channel: 'email', status: 'sent', providerId: mail.messageId }]);
  expect(notifications[0].to).toMatch(/^a•••@/);
});

test('all mails about one incident are one thread, separate from those about another', async () => {
  const { w, post, alert, incidentId } = await mailedIncident();
  await w.advance({ minutes: 15 });
  await w.expectOk('resolve_incident', { incidentId });
  await alert.trigger();
  await w.runUntilIdle();
  const [first, second, , ...rest] = post.mails.map((mail) => [mail.references, mail.inReplyTo, mail.messageId]);
  expect(second?.slice(0, 2)).toEqual(first?.slice(0, 2));
  expect(new Set(post.mails.map(({ messageId }) => messageId)).size).toBe(post.mails.length);
  expect(rest.map(([references]) => references)).not.toContain(first?.[0]);
});

test('opening a link only asks, so that a mail scanner changes nothing', async () => {
  const { w, links, incidentId } = await mailedIncident();
  const page = await follow(w, links['Acknowledge']);
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<button>Acknowledge</button>') });
  expect(page.body).toContain('latency is 250 &lt;b&gt;');
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action/);
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});

test('confirming acknowledges as the person who was paged, and the escalation pauses', async () => {
  const { w, anna, links, incidentId } = await mailedIncident();
  const answer = await follow(w, links['Acknowledge'], 'POST');
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('Acknowledged. Thank you.') });
  const incident = await w.expectOk('get_incident', { incidentId });
  expect(incident).toMatchObject({
    status: 'acknowledged',
    acknowledgedBy: { userId: anna.userId, via: 'email' },
    escalation: { state: 'paused' },
  });
  expect(incident.timeline.at(-1).text).toBe('Acknowledged by Anna by mail; escalation is paused.');
  expect(await audited(w)).toMatchObject([{ action: 'acknowledge_incident', result: 'done', via: 'email' }]);
});

test('confirming twice changes nothing more, and a late acknowledgement of a resolved incident says so', async () => {
  const { w, links, incidentId } = await mailedIncident();
  await follow(w, links['Resolve'], 'POST');
  const { resolvedAt } = await w.expectOk('get_incident', { incidentId });
  w.clock.advance({ minutes: 1 });
  expect(await follow(w, links['Resolve'], 'POST')).toMatchObject({ status: 200 });
  expect(await follow(w, links['Acknowledge'], 'POST')).toMatchObject({
    status: 409,
    body: expect.stringContaining('resolved already'),
  });
  expect((await follow(w, links['Acknowledge'])).body).not.toContain('<button>');
  expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({ status: 'resolved', resolvedAt });
});

test.each([
  ['cut off', (link: string) => link.slice(0, -1)],
  ['altered', (link: string) => link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
  ['turned from acknowledging to resolving', (link: string) => link.replace('/acknowledge/', '/resolve/')],
  ['given a longer life', (link: string) => link.replace(/\/(\d{10})\./, (_, seconds) => `/${Number(seconds) + 1}.`)],
  ['made to do something else', (link: string) => link.replace('/acknowledge/', '/delete/')],
])('a link that was %s is refused, and the refusal is audited', async (_how, alter) => {
  const { w, links, incidentId } = await mailedIncident();
  for (const method of ['GET', 'POST'] as const) {
    const answer = await follow(w, alter(links['Acknowledge']!), method);
    expect(answer).toMatchObject({ status: 403, body: expect.stringContaining('not valid') });
  }
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
  expect(await audited(w)).toMatchObject([
    { result: 'forbidden', via: 'email', actor: { kind: 'unknown' }, after: { why: 'forged link' } },
    { result: 'forbidden' },
  ]);
});

test('a link works for seven days and not a second longer', async () => {
  const { w, links, incidentId } = await mailedIncident();
  w.clock.advance({ hours: 7 * 24 });
  w.clock.advance({ seconds: -1 });
  expect((await follow(w, links['Acknowledge'])).status).toBe(200);
  w.clock.advance({ seconds: 2 });
  expect(await follow(w, links['Acknowledge'], 'POST')).toMatchObject({
    status: 403,
    body: expect.stringContaining('expired'),
  });
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
  expect(await audited(w)).toMatchObject([{ result: 'forbidden', after: { why: 'expired link' } }]);
});

test('a link that names no message is rejected in the same way', async () => {
  const { w, links } = await mailedIncident();
  const nobody = links['Acknowledge']!.replace(/notification_\w+/, 'notification_01h455vb4pex5vsknk084sn02q');
  expect(await follow(w, nobody, 'POST')).toMatchObject({ status: 403 });
});

test('the link of somebody who has left, or may no longer change anything, does nothing', async () => {
  const { w, anna, links, incidentId } = await mailedIncident();
  await w.context.db.sql.run(`update memberships set role = 'viewer' where user_id = $1`, [anna.userId]);
  expect(await follow(w, links['Acknowledge'], 'POST')).toMatchObject({ status: 403 });
  await w.context.db.sql.run('delete from memberships where user_id = $1', [anna.userId]);
  expect(await follow(w, links['Acknowledge'], 'POST')).toMatchObject({ status: 403 });
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});

test('a bad address (550) fails at once, and the next step fires', async () => {
  const { w, post, bram, alert } = await annaIsMailed();
  post.refuse(550);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ channel: 'email', status: 'failed', reason: 'bad_address', attempts: 1 });
  expect(w.phone.messages.map(({ to }) => to)).toContain(bram.phone);
});

test.each([
  [550, '5.1.1 user unknown', 'bad_address'],
  [550, '5.7.1 unable to relay', 'provider_refuses_mail'],
  [553, '5.7.1 sender address rejected: not owned by user', 'provider_refuses_mail'],
  [554, '5.7.1 relay access denied', 'provider_refuses_mail'],
  [554, '5.1.1 no such user', 'bad_address'],
  [550, '5.2.2 over quota', 'mailbox_full'],
])('a refusal with %i %s is told as %s (RFC 3463)', async (code, text, reason) => {
  const { w, post, alert } = await annaIsMailed();
  post.refuse(code, 'recipient', 1, text);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ channel: 'email', status: 'failed', reason });
});

test('a mail that is rejected after its whole body was sent fails as well', async () => {
  const { w, post, alert } = await annaIsMailed();
  post.refuse(554, 'data');
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'failed', reason: 'provider_refused_554', attempts: 1 });
});

test('a busy server (451) is tried again until it accepts the mail', async () => {
  const { w, post, alert } = await annaIsMailed();
  post.refuse(451, 'recipient', 2);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 2 });
  await w.advance({ seconds: 4 });
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'sent', attempts: 3 });
  expect(post.mails).toHaveLength(1);
});

test('a server that accepted the mail without an answer is not tried again: a second mail could not be recognized', async () => {
  const { w, post, alert } = await annaIsMailed();
  post.breakOff('data');
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ minutes: 1 });
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'sent', reason: 'unconfirmed', attempts: 1 });
  expect(post.connections).toBe(1);
});

test('a connection that breaks before the mail was sent loses nothing: it is sent again', async () => {
  const { w, post, alert } = await annaIsMailed();
  post.breakOff('recipient');
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.advance({ seconds: 2 });
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'sent', reason: null, attempts: 2 });
  expect(post.mails).toHaveLength(1);
});

test.each([
  ['wants a password that is not set', '', 'provider_refused_530'],
  ['does not take the password', 'tocsin:wrong@', 'provider_refused_credentials'],
])('a server that %s fails at once, and the log says so without the password', async (_what, credentials, reason) => {
  const post = await startMailServer();
  post.lock();
  const url = post.url.replace('smtp://', `smtp://${credentials}`);
  const w = await staffedWorld({ settings: { smtpUrl: url, mailFrom: 'tocsin@example.com' } });
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['email'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ status: 'failed', reason, attempts: 1 });
});

test('a server that does not answer at all is tried for five minutes, then the next step fires', async () => {
  const w = await staffedWorld({ settings: { smtpUrl: 'smtp://127.0.0.1:1', mailFrom: 'tocsin@example.com' } });
  const [teamId, cleo] = await w.staff.teamOf('Cleo');
  const unheard = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['email'], targetUserIds: [cleo.userId] },
    { afterMinutes: 60, channels: ['sms'], targetUserIds: [cleo.userId] },
  ]);
  const incidentId = await unheard.trigger();
  await w.runUntilIdle();
  for (let half = 0; half < 12; half += 1) await w.advance({ seconds: 30 });
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications[0]).toMatchObject({ channel: 'email', status: 'failed', reason: 'provider_unreachable' });
  expect(w.phone.messages).toMatchObject([{ to: cleo.phone }]);
});

test('the links of a person who has left neither act nor show the incident', async () => {
  const { w, anna, links, incidentId } = await mailedIncident();
  await storesOf(w.context.db.session()).people.removeMembership(w.orgId, anna.userId);
  for (const method of ['GET', 'POST'] as const) {
    const { status, body } = await follow(w, links['Acknowledge'], method);
    expect(status).toBe(403);
    for (const word of ['checkout', 'latency']) expect(body).not.toContain(word);
  }
  expect((await w.expectOk('get_incident', { incidentId })).status).toBe('triggered');
});
