import { expect, test } from 'vitest';

import { pageKey, timelineText } from '#modules/incidents/decide/timeline_text.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

/** The timeline as a reader sees it: seconds since the trigger, and a sentence. */
async function timelineTexts(w: StaffedWorld, incidentId: string): Promise<string[]> {
  const { timeline, triggeredAt } = await w.expectOk('get_incident', { incidentId });
  return timeline.map(({ at, text }: { at: string; text: string }) => {
    return `${(Date.parse(at) - Date.parse(triggeredAt)) / 1_000} s: ${text}`;
  });
}

test('a timeline says who was paged how, what came of it, who took over, and how it ended', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram] = await w.staff.teamOf('Anna', 'Bram');
  const { serviceId } = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['sms', 'call'], targetUserIds: [anna.userId] },
    { afterMinutes: 15, channels: ['sms', 'email'], targetUserIds: [bram.userId] },
    { afterMinutes: 30, channels: ['sms'], targetUserIds: [anna.userId] },
  ]);
  const measure = async (value: number) => {
    await runStorePoints(w.runtime, serviceId, [{ name: 'latency', at: w.clock.now(), value }]);
    await w.evaluate();
  };
  w.phone.addFault({ kind: 'http_error', status: 503, number: anna.phone, on: 'message', times: 1 });
  w.phone.addFault({ kind: 'undelivered', errorCode: 30003, number: anna.phone });
  await measure(250);
  await w.advance({ seconds: 5 });
  await w.advance({ seconds: 20 });
  await w.phone.answer(w.phone.calls[0]!, 'machine');
  await w.phone.hangUp(w.phone.calls[0]!);
  await w.runUntilIdle();
  await w.advance({ minutes: 1 });
  const { incidents } = await w.expectOk('list_incidents');
  const [{ incidentId, number }] = incidents;
  await w.phone.reply({ from: bram.phone, body: `ack ${number}` });
  await w.runUntilIdle();
  w.clock.advance({ minutes: 6 });
  await measure(3);
  w.clock.advance({ minutes: 5 });
  await measure(3);

  const story = await timelineTexts(w, incidentId);
  // These two leave at the same moment, in either order.
  expect(story.splice(2, 2).toSorted()).toEqual([
    '0 s: Calling Anna.',
    '0 s: SMS to Anna could not be sent yet: the provider had an internal error; it is tried again.',
  ]);
  expect(story).toEqual([
    '0 s: Triggered by the rule "Latency": average of latency over 5 min was 250 (> 100).',
    '0 s: Step 1 fires, paging Anna by SMS and phone.',
    '5 s: SMS to Anna sent.',
    '5 s: SMS to Anna failed: the phone is off or out of reach.',
    '25 s: Voicemail answered the call to Anna, who does not count as reached.',
    '25 s: Every channel of Anna has failed; the next step fires at once.',
    '25 s: Step 2 fires, paging Bram by SMS. Not Bram by mail (it is not set up on this server).',
    '25 s: SMS to Bram sent.',
    '25 s: SMS to Bram arrived.',
    '85 s: Acknowledged by Bram by SMS; escalation is paused.',
    '745 s: Resolved by Tocsin itself, as its cause is gone. Bram hears of it by SMS.',
  ]);
  await w.runUntilIdle();
});

test('a timeline says when nobody is left to page, who got the news of an answer, and which messages were cancelled', async () => {
  const w = await staffedWorld();
  const [teamId, anna, bram, cleo, dora, emil] = await w.staff.teamOf('Anna', 'Bram', 'Cleo', 'Dora', 'Emil');
  const atOnce = { afterMinutes: 0, channels: ['sms'] } as const;
  await w.expectOk('update_team_member', { memberId: emil.memberId, smsEnabled: false, phone: null });
  const unreachable = await w.staff.alert(teamId, [
    { afterMinutes: 0, channels: ['call'], targetUserIds: [dora.userId] },
    { afterMinutes: 5, channels: ['sms', 'call'], targetUserIds: [emil.userId] },
  ]);
  w.phone.addFault({ kind: 'call_ends', as: 'no-answer', number: dora.phone });
  const targetUserIds = [anna.userId, bram.userId, cleo.userId];
  const answered = await w.staff.alert(teamId, [{ ...atOnce, targetUserIds }]);
  w.phone.addFault({ kind: 'http_error', status: 503, number: cleo.phone });
  const byKey = await w.staff.alert(teamId, [{ ...atOnce, targetUserIds: [dora.userId] }]);
  const [nobodyLeft, incidentId, ofKey] = [
    await unreachable.trigger('it is slow'),
    await answered.trigger(),
    await byKey.trigger(),
  ];
  await w.runUntilIdle();
  expect(await timelineTexts(w, nobodyLeft)).toEqual([
    '0 s: Triggered by the rule "Latency": it is slow.',
    '0 s: Step 1 fires, paging Dora by phone.',
    '0 s: Calling Dora.',
    '0 s: Dora did not answer the call.',
    '0 s: Every channel of Dora has failed; the next step fires at once.',
    '0 s: Step 2 reached nobody: every channel is off or has no address; no step is left. ' +
      'Not Emil by SMS (has it off) nor Emil by phone (has no address for it).',
  ]);

  await w.expectOk('acknowledge_incident', { incidentId }, { key: cleo.key });
  const story = await timelineTexts(w, incidentId);
  expect(story[1]).toBe('0 s: Step 1 fires, paging Anna, Bram and Cleo by SMS.');
  expect(story.at(-1)).toMatch(
    /^0 s: Acknowledged by Cleo with the API key "test"; escalation is paused\. 1 message that had not left is cancelled\. (Anna and Bram|Bram and Anna) hear of it by SMS\.$/,
  );
  await w.expectOk('acknowledge_incident', { incidentId: ofKey });
  await w.advance({ minutes: 10 });
  expect(w.phone.messages.filter(({ to }) => to === cleo.phone)).toEqual([]);
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  expect(notifications.find(({ userId }: { userId: string }) => userId === cleo.userId)).toMatchObject({
    status: 'cancelled',
    reason: 'acknowledged',
    attempts: 1,
  });

  // The API key that answered is named in the incident, in its timeline, and in the news.
  const incident = await w.expectOk('get_incident', { incidentId: ofKey });
  expect(incident.acknowledgedBy).toEqual({ apiKeyId: expect.any(String), apiKeyName: 'all', via: 'rest' });
  expect(incident.timeline.map(({ text }: { text: string }) => text)).toContain(
    'Acknowledged by the API key "all"; escalation is paused. Dora hears of it by SMS.',
  );
  const news = w.phone.messages.findLast(({ to }) => to === dora.phone);
  expect(news?.body).toContain('is acknowledged by the API key "all". No need to act.');
});

test('events that earlier and later versions wrote are shown as well as possible', () => {
  const names = new Map([['u', 'Anna']]);
  expect(timelineText('step_fired', { stepIndex: 0, people: 2 }, names)).toBe('Step 1 fires, paging 2 people.');
  expect(timelineText('page_failed', { userId: 'x', channel: 'fax', reason: 'new_reason' }, names)).toBe(
    'Message to somebody who has left failed: new reason.',
  );
  expect(timelineText('page_failed', { userId: 'u', channel: 'sms', reason: 'provider_refused_21999' }, names)).toBe(
    'SMS to Anna failed: the provider refused it (21999).',
  );
  expect(timelineText('something_new', {}, names)).toBe('something new');
  const page = { userId: 'u', channel: 'sms', stepIndex: 0 };
  const simulated = new Set([pageKey('u', 'sms', 0)]);
  expect(timelineText('page_sent', page, names, simulated)).toMatch(
    /^SMS to .* went to the phone simulator: nobody was/,
  );
  expect(timelineText('page_delivered', page, names, simulated)).not.toMatch(/arrived/);
  const call = { ...page, channel: 'call' };
  expect(timelineText('page_delivered', call, names, new Set([pageKey('u', 'call', 0)]))).not.toMatch(/answered/);
  expect(timelineText('page_delivered', { ...page, stepIndex: 1 }, names, simulated)).toMatch(/arrived/);
});
