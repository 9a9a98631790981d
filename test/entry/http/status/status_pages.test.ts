import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { toTimestamp } from '#kernel/time.ts';
import {
  addStatusUpdate,
  createStatusPage,
  deleteStatusPage,
  listPublications,
  listStatusPages,
  publishIncident,
  retractPublication,
  updateStatusPage,
} from '#modules/status_pages/operations/status_pages.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Alert, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const SECRET = 'zebra-internal';
const STEPS = [{ afterMinutes: 0, channels: ['sms' as const], useSchedule: false }];

let w: StaffedWorld;
let alert: Alert;
/** A process remembers addresses, so each test has its own. */
let slug = '';
let pages = 0;

beforeEach(async () => {
  w = await staffedWorld();
  slug = `acme-${(pages += 1)}`;
  const teamId = await w.staff.team();
  const anna = await w.staff.responder(teamId, `Anna ${SECRET}`);
  alert = await w.staff.alert(teamId, [{ ...STEPS[0]!, targetUserIds: [anna.userId] }]);
});

const asOwner = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

const makePage = (changed: object = {}) =>
  asOwner(createStatusPage, {
    slug,
    title: 'Acme status',
    about: null,
    isPublic: true,
    groups: [{ name: 'Shop', services: [{ serviceId: alert.serviceId, name: 'Payments' }] }],
    ...changed,
  });

const publish = (statusPageId: string, incidentId: string, changed: object = {}) =>
  asOwner(publishIncident, {
    statusPageId,
    incidentId,
    title: 'Payments are slow',
    stage: 'investigating',
    impact: 'degraded',
    serviceIds: [alert.serviceId],
    text: 'We are looking <into> it.',
    ...changed,
  });

const read = async (path = '', headers: Record<string, string> = {}) =>
  await w.app.inject({ method: 'GET', url: `/status/${slug}${path}`, headers });

/** Reads a page after the time for which a process asks nothing about it. */
async function readLater(path = '') {
  await w.advance({ seconds: 11 });
  return await read(path);
}

describe('a public page', () => {
  test('says nothing of an incident until somebody publishes it, and then only what was published', async () => {
    const { statusPageId } = await makePage();
    const incidentId = await alert.trigger(`${SECRET} latency`);
    const { name } = await w.expectOk('get_service', { serviceId: alert.serviceId });
    await w.expectOk('update_service', { serviceId: alert.serviceId, name: `${SECRET} ${name}` });
    const quiet = await read();
    expect(quiet.statusCode).toBe(200);
    expect(quiet.body).toContain('No known problems');
    expect(quiet.body).toContain('Payments');
    expect(quiet.body).not.toContain(SECRET);
    await publish(statusPageId, incidentId);
    const laterValues = await readLater();
    expect(laterValues.body).toContain('Payments are slow');
    expect(laterValues.body).toContain('We are looking &lt;into&gt; it.');
    expect(laterValues.body).toContain('Some services are degraded');
    const feed = await read('/feed.atom');
    expect(feed.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(feed.body).toContain('<title>Payments are slow</title>');
    for (const { body } of [laterValues, feed]) {
      for (const inner of [SECRET, incidentId, alert.serviceId, 'Anna', 'Acme Inc', w.orgId]) {
        expect(body).not.toContain(inner);
      }
    }
  });

  test('says that an incident is over once it is resolved, and keeps it in the history', async () => {
    const { statusPageId } = await makePage();
    const incidentId = await alert.trigger();
    await publish(statusPageId, incidentId, { impact: 'outage' });
    expect((await readLater()).body).toContain('Some services are out');
    await w.expectOk('resolve_incident', { incidentId });
    const { body } = await readLater();
    expect(body).toContain('class="now well"');
    expect(body).toContain('Payments are slow');
    expect(body).toContain('Incidents on 1 day of 90');
  });

  test('shows what is open, however much has ended since', async () => {
    const { statusPageId } = await makePage();
    const incidentId = await alert.trigger();
    await publish(statusPageId, incidentId, { title: 'Refunds are late' });
    await w.context.db.sql.run(
      `insert into status_publications
         select 'publication_ended' || n, org_id, page_id, null, 'Over', impact, service_ids,
           began_at + n * interval '1 second', began_at + n * interval '2 seconds', changed_at
         from status_publications, generate_series(1, 200) as n`,
    );
    const { body } = await readLater();
    expect(body).toContain('Refunds are late');
    expect(body).toContain('Some services are degraded');
  });

  test('shows updates newest first, and takes back what is retracted', async () => {
    const { statusPageId } = await makePage();
    const incidentId = await alert.trigger();
    const { publicationId } = await publish(statusPageId, incidentId);
    await w.advance({ minutes: 5 });
    await asOwner(addStatusUpdate, { publicationId, stage: 'identified', text: 'A cache is full.', impact: 'outage' });
    const { body } = await readLater();
    expect(body.indexOf('A cache is full.')).toBeLessThan(body.indexOf('We are looking'));
    expect(body).toContain('Cause identified');
    expect((await asOwner(listPublications, { incidentId })).publications).toMatchObject([
      { publicationId, impact: 'outage', updates: [{ stage: 'identified' }, { stage: 'investigating' }] },
    ]);
    await asOwner(retractPublication, { publicationId });
    expect((await readLater()).body).not.toContain('A cache is full.');
  });

  test('says in its feed when the last word about an incident came', async () => {
    const { statusPageId } = await makePage();
    const { publicationId } = await publish(statusPageId, await alert.trigger(), { stage: 'resolved' });
    await w.advance({ minutes: 5 });
    const update = { publicationId, stage: 'resolved', text: 'It was a full cache.', impact: 'outage' };
    await asOwner(addStatusUpdate, update);
    const last = toTimestamp(w.clock.now());
    expect((await readLater('/feed.atom')).body).toContain(`<updated>${last}</updated><link`);
  });

  test('ends an incident that its publisher calls resolved, and opens it again on another update', async () => {
    const { statusPageId } = await makePage();
    const { publicationId } = await publish(statusPageId, await alert.trigger());
    const done = await asOwner(addStatusUpdate, { publicationId, stage: 'resolved', text: 'All is well.' });
    expect(done.endedAt).not.toBeNull();
    const again = await asOwner(addStatusUpdate, { publicationId, stage: 'investigating', text: 'It is back.' });
    expect(again.endedAt).toBeNull();
  });

  test('gets one of two updates that were based on the same one, and one update that is sent twice once', async () => {
    const { statusPageId } = await makePage();
    const { publicationId } = await publish(statusPageId, await alert.trigger());
    const update = { publicationId, stage: 'identified', text: 'A cache is full.', basedOn: 1 };
    await asOwner(addStatusUpdate, update);
    await w.advance({ seconds: 30 });
    const again = await asOwner(addStatusUpdate, { ...update, text: ' A cache is full. ' });
    expect(again.updates).toHaveLength(2);
    const other = asOwner(addStatusUpdate, { ...update, stage: 'monitoring' });
    await expect(other).rejects.toMatchObject({ code: 'conflict' });
    await asOwner(addStatusUpdate, { ...update, stage: 'monitoring', basedOn: 2 });
    const late = await asOwner(addStatusUpdate, update);
    expect(late.updates.map(({ stage }: { stage: string }) => stage)).toEqual([
      'monitoring',
      'identified',
      'investigating',
    ]);
  });

  test('shows an update that began on a slower clock than the last one', async () => {
    const { statusPageId } = await makePage();
    const { publicationId } = await publish(statusPageId, await alert.trigger());
    await w.context.db.sql.run(
      `insert into status_publications select (jsonb_populate_record(p, jsonb_build_object(
         'id', gen_random_uuid(), 'incident_id', null, 'changed_at', changed_at + interval '1 hour'))).*
       from status_publications p`,
    );
    expect((await readLater()).body).not.toContain('Found it.');
    await asOwner(addStatusUpdate, { publicationId, stage: 'identified', text: 'Found it.' });
    expect((await readLater()).body).toContain('Found it.');
  });

  test('answers an unchanged page with 304', async () => {
    await makePage();
    const first = await read();
    expect(first.headers['cache-control']).toBe('public, max-age=10');
    const again = await read('', { 'if-none-match': String(first.headers.etag) });
    expect(again.statusCode).toBe(304);
  });

  test('loads nothing, runs nothing, and may be framed by nobody', async () => {
    await makePage();
    const { body, headers } = await read();
    expect(body).not.toMatch(/<script|<img|onload|href="http:\/\/(?!tocsin)/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  test('is gone with its organization’s page, and so is all that was published', async () => {
    const { statusPageId } = await makePage();
    await publish(statusPageId, await alert.trigger());
    expect((await read()).statusCode).toBe(200);
    await asOwner(deleteStatusPage, { statusPageId });
    expect((await readLater()).statusCode).toBe(404);
    const rows = await w.context.db.sql.rows('select id from status_publications');
    expect(rows).toEqual([]);
  });
});

describe('a rush of readers', () => {
  test('costs no more queries than ten readers do', async () => {
    const { statusPageId } = await makePage();
    await publish(statusPageId, await alert.trigger());
    const ask = vi.spyOn(Client.prototype, 'query');
    onTestFinished(() => ask.mockRestore());
    const queriesOf = async (readers: number, path = '') => {
      ask.mockClear();
      const answers = await Promise.all(Array.from({ length: readers }, () => read(path)));
      expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
      return ask.mock.calls.filter(([query]) => JSON.stringify(query).includes('status_')).length;
    };
    await w.advance({ seconds: 11 });
    const ten = await queriesOf(10);
    expect(ten).toBeGreaterThan(0);
    await w.advance({ seconds: 11 });
    expect(await queriesOf(100)).toBeLessThanOrEqual(ten);
    expect(await queriesOf(100, '/feed.atom')).toBe(0);
  });

  test('asks one query, and renders nothing, when nothing has changed', async () => {
    await makePage();
    await read();
    const ask = vi.spyOn(Client.prototype, 'query');
    onTestFinished(() => ask.mockRestore());
    await w.advance({ seconds: 11 });
    ask.mockClear();
    await read();
    expect(ask.mock.calls.filter(([query]) => JSON.stringify(query).includes('status_'))).toHaveLength(1);
  });

  test('reads the page as it was last while the database is away', async () => {
    await makePage();
    const before = await read();
    await w.advance({ seconds: 11 });
    const session = vi.spyOn(w.context.db, 'session').mockImplementation(() => {
      throw new Error('the database is away');
    });
    onTestFinished(() => session.mockRestore());
    expect((await read()).body).toBe(before.body);
    const askFor = async (address: number) => await w.app.inject({ method: 'GET', url: `/status/made-up-${address}` });
    await Promise.all(Array.from({ length: 1_100 }, (_, address) => askFor(address)));
    expect((await read()).body).toBe(before.body);
  });
});

describe('a page for members', () => {
  test('answers strangers as an address without a page does, and members with the page', async () => {
    await makePage({ isPublic: false });
    const stranger = await read();
    const nothing = await w.app.inject({ method: 'GET', url: '/status/nothing-here' });
    expect([stranger.statusCode, stranger.body]).toEqual([404, nothing.body]);
    expect((await read('/feed.atom')).statusCode).toBe(404);
    const { email } = await givenPerson(w, { role: 'viewer' });
    const browser = await signedIn(w, email);
    const member = await read('', { cookie: browser.cookie! });
    expect(member.statusCode).toBe(200);
    expect(member.headers['cache-control']).toBe('private, no-cache');
    const other = await w.forOrganization('Globex');
    const outsider = await signedIn(w, (await givenPerson(other, { role: 'owner' })).email, '198.51.100.9');
    expect((await read('', { cookie: outsider.cookie! })).statusCode).toBe(404);
  });
});

describe('setting up a page', () => {
  test('refuses an address that another page has, and a service that is named twice', async () => {
    await makePage();
    await expect(makePage()).rejects.toMatchObject({ code: 'conflict' });
    const service = { serviceId: alert.serviceId, name: 'Payments' };
    const groups = [{ name: 'Shop', services: [service, service] }];
    await expect(makePage({ slug: `${slug}-other`, groups })).rejects.toMatchObject({ code: 'invalid_input' });
    expect((await asOwner(listStatusPages, {})).statusPages).toHaveLength(1);
  });

  test('refuses a change that is based on an older version', async () => {
    const { statusPageId, version } = await makePage();
    await asOwner(updateStatusPage, { statusPageId, version, title: 'Acme shop' });
    const late = asOwner(updateStatusPage, { statusPageId, version, title: 'Another' });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect((await readLater()).body).toContain('<h1>Acme shop</h1>');
  });

  test('leaves out a service that was deleted', async () => {
    await makePage();
    expect((await read()).body).toContain('Payments');
    await w.expectOk('delete_service', { serviceId: alert.serviceId });
    expect((await readLater()).body).not.toContain('Payments');
  });

  test('publishes nothing twice, nothing that is resolved, and no service that is not on the page', async () => {
    const { statusPageId } = await makePage();
    const { serviceId: other } = await w.given.service();
    const incidentId = await alert.trigger();
    await expect(publish(statusPageId, incidentId, { serviceIds: [other] })).rejects.toMatchObject({
      code: 'not_found',
    });
    await publish(statusPageId, incidentId);
    await expect(publish(statusPageId, incidentId)).rejects.toMatchObject({ code: 'conflict' });
    await w.expectOk('resolve_incident', { incidentId });
    const { publicationId } = (await asOwner(listPublications, { incidentId })).publications[0];
    const late = asOwner(addStatusUpdate, { publicationId, stage: 'monitoring', text: 'Is it over?' });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
  });
});
