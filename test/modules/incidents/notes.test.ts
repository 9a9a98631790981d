import { beforeEach, expect, test } from 'vitest';

import { addIncidentNote, deleteIncidentNote, editIncidentNote } from '#modules/incidents/operations/notes.ts';
import type { Id } from '#kernel/ids.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

let incidentId: Id<'incident'>;
let people: Record<'anna' | 'bram', ReturnType<typeof memberCaller>>;
const w = await fileWorld();
beforeEach(async () => {
  const { serviceId } = await w.given.service();
  [incidentId] = (await givenIncidents(w, serviceId, { count: 1, status: 'triggered' })) as [Id<'incident'>];
  const [anna, bram] = [await w.given.user({ role: 'responder' }), await w.given.user({ role: 'responder' })];
  people = {
    anna: memberCaller(w.orgId, anna.userId, 'responder'),
    bram: memberCaller(w.orgId, bram.userId, 'responder'),
  };
});

let requests = 0;
const add = (who: 'anna' | 'bram', text: string, requestKey = `request-${(requests += 1)}`) =>
  runOperation(w, addIncidentNote, people[who], { incidentId, text, requestKey });
const notes = async () => (await w.expectOk('get_incident', { incidentId })).notes;

test('notes are read by everybody, oldest first, and one that is sent twice is written once', async () => {
  const first = await add('anna', '  The replica lags. ', 'the-same-request');
  expect(await add('anna', 'The replica lags.', 'the-same-request')).toEqual(first);
  await add('bram', 'Restarted it.', 'the-same-request');
  expect((await notes()).map(({ text }: { text: string }) => text)).toEqual(['The replica lags.', 'Restarted it.']);
  const audited = await w.context.db.sql.rows(`select after from audit_log where target = $1 order by at, id`, [
    incidentId,
  ]);
  expect(audited).toMatchObject([{ after: { noteId: first.noteId, length: 17 } }, {}]);
});

test('a note is changed and deleted by who wrote it only', async () => {
  const { noteId } = await add('anna', 'The replica lags.');
  const note = { incidentId, noteId };
  const edit = (who: 'anna' | 'bram', text: string, before: string) =>
    runOperation(w, editIncidentNote, people[who], { ...note, text, before });
  await expect(edit('bram', 'No.', 'The replica lags.')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(runOperation(w, deleteIncidentNote, people.bram, note)).rejects.toMatchObject({ code: 'forbidden' });
  w.clock.advance({ minutes: 1 });
  const edited = await edit('anna', 'The primary lags.', 'The replica lags.');
  expect(edited).toMatchObject({ text: 'The primary lags.', editedAt: expect.any(String) });
  await expect(edit('anna', 'Both lag.', 'The replica lags.')).rejects.toMatchObject({ code: 'conflict' });
  await runOperation(w, deleteIncidentNote, people.anna, note);
  expect(await notes()).toEqual([]);
  await expect(runOperation(w, deleteIncidentNote, people.anna, note)).rejects.toMatchObject({ code: 'not_found' });
  const texts = await w.context.db.sql.rows<{ row: string }>(
    `select coalesce(before::text, '') || coalesce(after::text, '') as row from audit_log where target = $1`,
    [incidentId],
  );
  expect(
    texts.every(({ row }) => !row.includes('lags')),
    'what is deleted is not in the audit log',
  ).toBe(true);
});

test('an incident takes a limited number of notes of a limited length', async () => {
  await expect(add('anna', ' ')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(add('anna', 'x'.repeat(2_001))).rejects.toMatchObject({ code: 'invalid_input' });
  await w.context.db.sql.run(
    `insert into incident_notes (id, incident_id, user_id, body, request_key, created_at)
     select 'note_' || n, $1, 'user_1', 'text', n::text, now() from generate_series(1, 200) n`,
    [incidentId],
  );
  await expect(add('anna', 'One more.')).rejects.toMatchObject({ code: 'conflict' });
});
