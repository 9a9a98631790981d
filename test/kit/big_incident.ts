import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import type { World } from '#test/kit/world.ts';

const STEPS = 10;
const PAGES = 300;
const EVENTS = 250;
const NOTES = 150;

/** Gives an incident the steps, pages, notes and events of a long night, each as long as it may be. */
export async function givenLongNight(
  w: World,
  incidentId: Id<'incident'>,
  userIds: readonly Id<'user'>[],
): Promise<void> {
  const stores = storesOf(w.context.db.session());
  const now = w.clock.now();
  const userOf = (nth: number): Id<'user'> => userIds[nth % userIds.length]!;
  const steps = Array.from({ length: STEPS }, (_, nth) => ({
    afterMinutes: nth * 5,
    channels: ['sms', 'call'],
    targetUserIds: userIds,
    useSchedule: true,
  }));
  await w.context.db.sql.run('update incidents set steps = $2::json where id = $1', [
    incidentId,
    JSON.stringify(steps),
  ]);
  await stores.notifications.insert(
    Array.from({ length: PAGES }, (_, nth) => ({
      orgId: w.orgId,
      incidentId,
      stepIndex: nth % STEPS,
      kind: 'update',
      userId: userOf(nth),
      channel: 'sms',
      address: `+31612${String(nth).padStart(6, '0')}`,
      reason: 'the provider did not take the message, and was asked again until the incident was old',
      status: 'failed',
    })),
    now,
  );
  const sentence = 'The pool of connections was empty for a minute, then the queue grew. '.repeat(7).trim();
  await stores.timeline.recordAll(
    Array.from({ length: EVENTS }, (_, nth) => ({
      incidentId,
      event: 'agent_asked',
      data: { agent: 'Night agent', number: nth, sentence },
    })),
    now,
  );
  for (let nth = 0; nth < NOTES; nth += 1) {
    const note = { incidentId, userId: userOf(nth), agentName: null, requestKey: `note ${nth}` };
    await stores.incidentNotes.insert({ ...note, body: sentence.repeat(4).slice(0, 2_000) }, now);
  }
}
