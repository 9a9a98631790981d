import { beforeEach, expect, test } from 'vitest';

import {
  addStatusUpdate,
  createStatusPage,
  listStatusPages,
  publishIncident,
  updateStatusPage,
} from '#modules/status_pages/operations/status_pages.ts';
import { listAuditLog } from '#modules/audit/operations/list_audit_log.ts';
import { endPublications } from '#modules/status_pages/end_publications.ts';
import { altered } from '#test/auth/altered.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';

const READER = 'Reader@Example.org';

let w: StaffedWorld;
let mail: MailServer;
let serviceId: string;
let statusPageId: string;
/** A process remembers addresses, so each test has its own. */
let slug = '';
let pages = 0;

beforeEach(async () => {
  mail = await startMailServer();
  w = await staffedWorld({ settings: { smtpUrl: mail.url, mailFrom: 'tocsin@example.com' } });
  slug = `mailed-${(pages += 1)}`;
  ({ serviceId } = await w.given.service());
  const groups = [{ name: '', services: [{ serviceId, name: 'Payments' }] }];
  const page = { slug, title: 'Acme status', about: null, isPublic: true, groups };
  statusPageId = (await asOwner(createStatusPage, page)).statusPageId;
});

const asOwner = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

async function publish() {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  return await asOwner(publishIncident, {
    statusPageId,
    incidentId: await alert.trigger('internal title'),
    title: 'Payments are slow',
    stage: 'investigating',
    impact: 'degraded',
    serviceIds: [serviceId],
    text: 'We are looking into it.',
  });
}

/** Sends a form, and leaves what follows from it for later. */
async function submit(path: string, fields: Record<string, string> = {}, address = '198.51.100.1') {
  const { statusCode, body } = await w.app.inject({
    method: 'POST',
    url: path,
    remoteAddress: address,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });
  return { status: statusCode, body };
}

async function post(...sent: Parameters<typeof submit>) {
  const answer = await submit(...sent);
  await w.runUntilIdle();
  return answer;
}

const ask = (email: string, address?: string) => post(`/status/${slug}/subscribe`, { email }, address);

const pathOf = (link: string | undefined) => new URL(String(link)).pathname;

async function subscribed(email = READER, address?: string) {
  await ask(email, address);
  const path = pathOf(mail.linksOf(mail.mails.at(-1)!)['Confirm']);
  expect((await post(path)).status).toBe(200);
}

test('a reader gets updates once they confirm, and none before', async () => {
  await ask(READER);
  expect(mail.mails).toHaveLength(1);
  const [asking] = mail.mails;
  expect(asking).toMatchObject({ recipients: ['reader@example.org'], subject: 'Confirm: Updates of Acme status' });
  const { publicationId } = await publish();
  await w.runUntilIdle();
  expect(mail.mails).toHaveLength(1);
  const path = pathOf(mail.linksOf(asking!)['Confirm']);
  const shown = await w.app.inject({ method: 'GET', url: path });
  expect([shown.statusCode, shown.body.includes('<button>Confirm</button>')]).toEqual([200, true]);
  await asOwner(addStatusUpdate, { publicationId, stage: 'identified', text: 'Looking a link up confirms nothing.' });
  await w.runUntilIdle();
  expect(mail.mails).toHaveLength(1);
  await post(path);
  await asOwner(addStatusUpdate, { publicationId, stage: 'monitoring', text: 'A cache was full.' });
  await w.runUntilIdle();
  expect(mail.mails).toHaveLength(2);
  const [, update] = mail.mails;
  expect(update?.subject).toBe('Acme status: Payments are slow (watching)');
  expect(update?.text).toContain('A cache was full.');
  expect(update?.text).toContain('Affects Payments.');
  expect(JSON.stringify(update)).not.toContain('internal title');
  expect((await asOwner(listStatusPages, {})).statusPages).toMatchObject([{ subscribers: 1 }]);
});

test('one click in a mail program unsubscribes', async () => {
  await subscribed();
  await publish();
  await w.runUntilIdle();
  const update = mail.mails.at(-1)!;
  const header = (name: string) => update.headers.find(({ key }) => key === name)?.value;
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const link = /^<(.+)>$/.exec(String(header('list-unsubscribe')))?.[1];
  expect((await post(pathOf(link), { 'List-Unsubscribe': 'One-Click' })).status).toBe(200);
  expect((await post(pathOf(link))).status).toBe(404);
  const rows = await w.context.db.sql.rows('select id from status_subscribers');
  expect(rows).toEqual([]);
});

test('the end of an incident is told once, and stays on the page when the incident is removed', async () => {
  await subscribed();
  const { incidentId } = await publish();
  await w.runUntilIdle();
  await w.expectOk('resolve_incident', { incidentId });
  expect(await endPublications(w.runtime)).toBe(1);
  expect(await endPublications(w.runtime)).toBe(0);
  const [ended] = (await asOwner(listAuditLog, { action: 'add_status_update' })).entries;
  expect(ended).toMatchObject({ actor: { kind: 'system' }, target: incidentId, after: { stage: 'resolved' } });
  await w.runUntilIdle();
  expect(mail.mails.map(({ subject }) => subject).slice(-1)).toEqual(['Acme status: Payments are slow (resolved)']);
  await w.context.db.sql.run('delete from incidents where id = $1', [incidentId]);
  const rows = await w.context.db.sql.rows(
    'select ended_at is not null as ended, incident_id from status_publications',
  );
  expect(rows).toEqual([{ ended: true, incident_id: null }]);
});

test('nobody fills the mailbox of another', async () => {
  for (let tries = 0; tries < 5; tries += 1) expect((await ask(READER)).status).toBe(200);
  expect(mail.mails).toHaveLength(1);
  for (let other = 0; other < 8; other += 1) {
    const page = { slug: `${slug}-${other}`, title: 'Other', about: null, isPublic: true, groups: [] };
    await asOwner(createStatusPage, page);
    await submit(`/status/${slug}-${other}/subscribe`, { email: READER }, `198.51.100.${10 + other}`);
  }
  await w.runUntilIdle();
  expect(mail.mails).toHaveLength(5);
  await w.advance({ hours: 25 });
  await enforceRetention(w.runtime);
  expect(await w.context.db.sql.rows('select id from status_subscribers')).toEqual([]);
});

test('one network asks only so often, and what is no address is refused', async () => {
  expect((await ask('no address')).status).toBe(400);
  expect((await ask('')).status).toBe(400);
  expect((await ask('reader\0@example.org', '192.0.2.7')).status).toBe(400);

  const answers: number[] = [];
  for (let tries = 0; tries < 11; tries += 1) {
    const email = `r${tries}@example.org`;
    answers.push((await submit(`/status/${slug}/subscribe`, { email }, '203.0.113.7')).status);
  }
  expect(answers.filter((status) => status === 429)).toHaveLength(1);
});

test('a link that was altered, or was made for something else, does nothing', async () => {
  await ask(READER);
  const path = pathOf(mail.linksOf(mail.mails.at(-1)!)['Confirm']);
  expect((await post(path.replace('/confirm/', '/unsubscribe/'))).status).toBe(404);
  // The last character of base64url has bits that mean nothing.
  expect((await post(`${altered(path.slice(0, -1))}${path.at(-1)}`)).status).toBe(404);
  expect((await post(`/status/${slug}/confirm/x`)).status).toBe(404);
  expect(await w.context.db.sql.rows('select confirmed_at from status_subscribers')).toEqual([{ confirmed_at: null }]);
});

test('a page without room answers alike for addresses that it knows and others', async () => {
  await subscribed(READER, '192.0.2.8');
  await ask('waits@example.org', '192.0.2.8');
  await w.context.db.sql.run(
    `insert into status_subscribers (id, org_id, page_id, email, asked_at, confirmed_at)
     select gen_random_uuid(), org_id, page_id, 'r' || n || '@example.org', asked_at, null
     from (select * from status_subscribers limit 1) b, generate_series(1, 1000) n`,
  );
  const answers = await Promise.all(
    [READER, 'waits@example.org', 'new@example.org'].map((email) => ask(email, '192.0.2.9')),
  );
  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
});

test('updates of a page that is for members now go to members only', async () => {
  const { email } = await givenPerson(w, { role: 'viewer' });
  await subscribed(READER, '192.0.2.8');
  await subscribed(email, '192.0.2.8');
  const [page] = (await asOwner(listStatusPages, {})).statusPages;
  await asOwner(updateStatusPage, { statusPageId, version: page.version, isPublic: false });
  const before = mail.mails.length;
  await publish();
  await w.runUntilIdle();
  expect(mail.mails.slice(before).flatMap(({ recipients }) => recipients)).toEqual([email.toLowerCase()]);
});
