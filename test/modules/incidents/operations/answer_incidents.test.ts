import { expect, test } from 'vitest';

import { answerIncidents } from '#modules/incidents/operations/answer_incidents.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const { serviceId } = await w.given.service();

const answer = (input: object) =>
  runOperation(w, answerIncidents, memberCaller(w.orgId, w.owner.userId, 'owner'), input);
const counts = async () => (await w.expectOk('list_incidents')).counts;

test('all that match are answered in slices, with their audit rows, and what opens meanwhile is left alone', async () => {
  await givenIncidents(w, serviceId, { count: 120, status: 'triggered', minutesAgo: 10 });
  await givenIncidents(w, serviceId, { count: 3, status: 'triggered', minutesAgo: 10, severity: 'fatal' });
  await givenIncidents(w, serviceId, { count: 2, status: 'acknowledged', minutesAgo: 10 });
  const until = w.clock.now().toString();
  w.clock.advance({ minutes: 5 });
  await givenIncidents(w, serviceId, { count: 4, status: 'triggered' });
  const matching = { statuses: ['triggered', 'acknowledged'], severity: 'error', serviceId, triggeredUntil: until };
  const slices: { changed: { incidentId: string }[]; left: number }[] = [];
  do slices.push(await answer({ answer: 'acknowledge', matching }));
  while (slices.at(-1)!.left > 0);
  expect(slices.map(({ changed, left }) => [changed.length, left])).toEqual([
    [50, 70],
    [50, 20],
    [20, 0],
  ]);
  expect(await counts()).toMatchObject({ triggered: 7, acknowledged: 122 });
  const audited = await w.context.db.sql.rows(`select 1 from audit_log where action = 'answer_incidents'`);
  expect(audited).toHaveLength(120);

  const ids = slices[0]!.changed.map(({ incidentId }) => incidentId);
  const undone = await answer({ answer: 'unacknowledge', incidentIds: ids });
  expect(undone).toMatchObject({ changed: { length: 50 }, unchanged: 0, refused: [], left: 0 });
  expect(await counts()).toMatchObject({ triggered: 57, acknowledged: 72 });
  expect(await answer({ answer: 'resolve', matching })).toMatchObject({ changed: { length: 50 }, left: 72 });
});

test('what cannot be answered is named, and the rest is answered', async () => {
  const [resolved] = await givenIncidents(w, serviceId, { count: 1 });
  const [open] = await givenIncidents(w, serviceId, { count: 1, status: 'triggered' });
  const [known] = await givenIncidents(w, serviceId, { count: 1, status: 'acknowledged' });
  const gone = 'incident_01kdwm4a1b2c3d4e5f6g7h8j9k';
  const result = await answer({ answer: 'acknowledge', incidentIds: [resolved, open, known, gone] });
  expect(result).toMatchObject({
    changed: [{ incidentId: open }],
    unchanged: 2,
    refused: [{ incidentId: resolved, reason: expect.stringContaining('resolved already') }],
    left: 0,
  });
});

test('incidents of another organization are not answered', async () => {
  const [own] = await givenIncidents(w, serviceId, { count: 1, status: 'triggered' });
  const other = await w.given.organization('Umbrella');
  const caller = { ...memberCaller(w.orgId, w.owner.userId, 'owner'), orgId: other.orgId };
  const result = await runOperation(w, answerIncidents, caller, { answer: 'resolve', incidentIds: [own] });
  expect(result).toMatchObject({ changed: [], unchanged: 1 });
  const seen = await w.expectOk('get_incident', { incidentId: own });
  expect(seen.status).toBe('triggered');
});

test('a call that does not say which, or says too many at once, is refused', async () => {
  const matching = { statuses: ['triggered'], triggeredUntil: w.clock.now().toString() };
  const many = Array.from({ length: 51 }, (_, n) => `incident_${n}`);
  for (const input of [{}, { incidentIds: many }, { matching: { ...matching, statuses: [] } }]) {
    await expect(answer({ answer: 'acknowledge', ...input })).rejects.toMatchObject({ code: 'invalid_input' });
  }
});
