import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { Role } from '#kernel/permissions.ts';
import { addIncidentNote, deleteIncidentNote } from '#modules/incidents/operations/notes.ts';
import { type Slack, startSlack } from '#test/kit/programs/slack.ts';
import { runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { linkedPerson, makeSlackPlace } from '#test/modules/places/slack_people.ts';

let slack: Slack;
let w: StaffedWorld;
let placeId: string;
let incidentId: string;

beforeAll(async () => {
  slack = await startSlack(() => w.clock.now().epochMilliseconds);
});
afterAll(() => slack.close());

beforeEach(async () => {
  slack.removeMessages();
  (slack.whispers as unknown[]).splice(0);
  w = await staffedWorld({ settings: { slackApiBase: slack.url } });
  placeId = await makePlace();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId], useSchedule: false } as const;
  incidentId = await (await w.staff.alert(teamId, [step])).trigger();
  await w.runUntilIdle();
});

const makePlace = (of?: Pick<StaffedWorld, 'orgId' | 'owner'>, name?: string) => makeSlackPlace(w, of, name);

const linked = (user: string, role: Role = 'responder') => linkedPerson(w, slack, placeId, user, role);

const write = (written: Partial<Parameters<Slack['write']>[1]> = {}) =>
  slack.write(w.app, { placeId, user: 'Bram', text: 'The replica lags.', ...written });

const notes = () =>
  w.context.db.sql.rows<{ id: string; userId: string; body: string }>(
    'select id, user_id as "userId", body from incident_notes order by created_at, id',
  );

const bodies = async () => (await notes()).map(({ body }) => body);

test('the address answers the challenge of Slack, and only one that is signed', async () => {
  const challenge = { token: 'verification-token', challenge: '3eZbrw1aBm2rZgRN', type: 'url_verification' };
  const answer = await slack.sendEvent(w.app, placeId, challenge);
  expect([answer.statusCode, answer.json()]).toEqual([200, { challenge: challenge.challenge }]);
  const unsigned = await w.app.inject({ method: 'POST', url: `/api/places/${placeId}/slack`, payload: challenge });
  expect([unsigned.statusCode, unsigned.body.includes(challenge.challenge)]).toEqual([403, false]);
});

test('a reply of a linked person in the thread is a note, audited with both, and is not said again there', async () => {
  const { userId } = await linked('Bram');
  const another = await makePlace(w, 'Another');
  await w.context.db.sql.run(
    `insert into place_messages (place_id, incident_id, reference, sent_at)
     select $1, incident_id, '{"channel": "C9", "ts": "9.9"}', sent_at from place_messages`,
    [another],
  );
  expect(await write({ text: 'The &lt;replica&gt; lags, says <@U7|vera>.' })).toBe(200);
  expect(await notes()).toMatchObject([{ userId, body: 'The <replica> lags, says @vera.' }]);
  const entries = await w.context.db.sql.rows(
    "select actor, via, target from audit_log where action = 'add_incident_note'",
  );
  const chatAccount = { placeId, account: 'T0001 Bram', name: 'bram' };
  expect(entries).toEqual([
    { actor: { kind: 'user', userId, apiKeyId: null, chatAccount }, via: 'slack', target: incidentId },
  ]);
  await w.runUntilIdle();
  expect(slack.messages.filter(({ text }) => text.includes('replica'))).toEqual([]);
});

test('a place that an admin set up writes no notes of owners, whichever place has the message', async () => {
  await linked('Olga', 'owner');
  const ofAdmin = await makePlace(w, 'Of an admin');
  await w.context.db.sql.run(`update places set settings_role = 'admin' where id = $1`, [ofAdmin]);
  await write({ user: 'Olga', placeId: ofAdmin });
  expect(await notes()).toEqual([]);
  await write({ user: 'Olga' });
  expect(await notes()).toHaveLength(1);
});

test('a message that Slack tells of again makes one note, also at the same time and after the note is deleted', async () => {
  const { caller } = await linked('Bram');
  const ts = '1700000900.000200';
  expect(await Promise.all([write({ ts }), write({ ts, repeat: 1 })])).toEqual([200, 200]);
  expect(await write({ ts, repeat: 2 })).toBe(200);
  const [note, ...others] = await notes();
  expect(others).toEqual([]);
  await runOperation(w, deleteIncidentNote, caller, { incidentId, noteId: note!.id });
  expect(await write({ ts, repeat: 3 })).toBe(200);
  expect(await notes()).toEqual([]);
  await write();
  expect(await notes()).toHaveLength(1);
});

test('forged and late events are refused, and a reply in a thread of another organization, team, channel or message makes no note', async () => {
  await linked('Bram');
  const nowMs = w.clock.now().epochMilliseconds;
  expect(await write({ secret: 'another' })).toBe(403);
  expect(await write({ nowMs: nowMs - 301_000 })).toBe(403);
  expect(await write({ nowMs: nowMs + 301_000 })).toBe(403);
  expect(await write({ placeId: 'place_01kdwm4a1b2c3d4e5f6g7h8j9k' })).toBe(404);
  const other = await makePlace(await w.given.organization('Other'));
  expect(await write({ placeId: other })).toBe(200);
  expect(await write({ team: 'T9999' })).toBe(200);
  expect(await write({ fields: { team: 'T9999' } })).toBe(200);
  expect(await write({ channel: 'C9999999999' })).toBe(200);
  expect(await write({ threadTs: '1.1' })).toBe(200);
  expect(await write({ threadTs: null })).toBe(200);
  expect(await write({ ts: slack.messages[0]!.ts })).toBe(200);
  expect(await notes()).toEqual([]);
});

test('what is no new message of a person makes no note', async () => {
  await linked('Bram');
  const fields = [
    { bot_id: 'B0001', bot_profile: { id: 'B0001', app_id: 'A0001' } },
    { subtype: 'bot_message', username: 'Bram' },
    { subtype: 'message_changed', message: { user: 'Bram', text: 'changed' } },
    { subtype: 'message_deleted', hidden: true },
    { subtype: 'channel_join' },
    { edited: { user: 'Bram', ts: '2.2' } },
    { type: 'reaction_added' },
    { text: undefined },
    { text: ' \n' },
    { user: undefined },
    { user: { id: 'Bram' } },
    { ts: 'no time' },
  ];
  for (const more of fields) expect(await write({ fields: more })).toBe(200);
  for (const event of [{ type: 'event_callback' }, { type: 'app_rate_limited' }, {}, []]) {
    expect((await slack.sendEvent(w.app, placeId, event)).statusCode).toBe(200);
  }
  expect(await notes()).toEqual([]);
  await write({ text: 'with a picture', fields: { subtype: 'file_share' } });
  await write({ text: 'told the channel too', fields: { subtype: 'thread_broadcast' } });
  expect(await bodies()).toEqual(['with a picture', 'told the channel too']);
});

test('people who are not linked, may not write notes, or have left write none, and nobody is told', async () => {
  await linked('Vera', 'viewer');
  const bram = await linked('Bram');
  expect(await write({ user: 'Eve' })).toBe(200);
  expect(await write({ user: 'Vera' })).toBe(200);
  await w.context.db.sql.run('delete from memberships where user_id = $1', [bram.userId]);
  expect(await write()).toBe(200);
  expect(await notes()).toEqual([]);
  expect(slack.whispers).toEqual([]);
});

test('a text of any size is taken and cut, and an incident that has all its notes takes no more', async () => {
  const { caller } = await linked('Bram');
  expect(await write({ text: `${'long '.repeat(7_900)}\0` })).toBe(200);
  const [cut] = await bodies();
  expect(cut).toMatch(/^long .*…$/su);
  expect((await write({ text: 'x'.repeat(300_000) })) >= 400).toBe(true);
  await w.context.db.sql.run(
    `insert into incident_notes select (jsonb_populate_record(n, jsonb_build_object(
       'id', 'note_of_test_' || count, 'request_key', 'note-of-test-' || count))).*
     from incident_notes n, generate_series(2, 199) count where incident_id = $1`,
    [incidentId],
  );
  const full = { incidentId, text: 'full', requestKey: 'note-of-test-200' };
  await runOperation(w, addIncidentNote, caller, full);
  expect(await write()).toBe(200);
  expect(await notes()).toHaveLength(200);
});
