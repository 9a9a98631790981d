import type { AnswerPage } from '#entry/http/answers/answer_page.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Answer } from '#notify/answer_link.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Stores } from '#modules/stores.ts';

/** Page shown when an answer to an incident changes nothing any more. */
export type GivenAnswer = Pick<AnswerPage, 'status' | 'heading' | 'paragraphs'>;

/**
 * Returns the incidents that an answer to the message would not change, by their ids: somebody has given it already. A
 * link gives its answer once: if its person has given it since the message was sent, and the incident was reopened,
 * another message asks again.
 */
export async function findGivenAnswers(
  stores: Stores,
  answer: Answer,
  { orgId, userId, createdAt, releasedAt }: NotificationRow,
  incidents: readonly IncidentRow[],
): Promise<Map<string, GivenAnswer>> {
  const events = answer === 'resolve' ? ['resolved'] : ['acknowledged', 'resolved'];
  const ownEntries = await stores.timeline.listDoneBy(
    userId,
    incidents.map(({ id }) => id),
    { events, since: releasedAt ?? createdAt },
  );
  const ownOf = new Map(ownEntries.map((event) => [event.incidentId, event]));
  const userIds = incidents.flatMap(({ acknowledgedBy, resolvedBy }) =>
    [idOf(acknowledgedBy), idOf(resolvedBy)].flat(),
  );
  const people = await stores.people.listPeople(orgId, userIds);
  const said = (done: string, by: IncidentActor | null, at: Temporal.Instant | null): string => {
    const who = by === null ? 'somebody' : actorText(by, (id) => people.get(id)?.name ?? 'somebody who has left');
    return `${done} by ${who}${at === null ? '' : `, ${shownTime(at)}`}.`;
  };
  return new Map(
    incidents.flatMap((incident): [string, GivenAnswer][] => {
      const { id, status, resolvedBy, resolvedAt, acknowledgedBy, acknowledgedAt } = incident;
      if (status === 'resolved') {
        const heading = 'This incident is resolved already.';
        const paragraphs = [said('Resolved', resolvedBy, resolvedAt), NOTHING_LEFT];
        return [[id, { status: answer === 'resolve' ? 200 : 409, heading, paragraphs }]];
      }
      if (status === 'acknowledged' && answer === 'acknowledge') {
        const paragraphs = [said('Acknowledged', acknowledgedBy, acknowledgedAt), NOTHING_LEFT];
        return [[id, { status: 200, heading: 'This incident is acknowledged already.', paragraphs }]];
      }
      const answers = ownOf.get(id);
      if (answers === undefined) return [];
      const done = `You ${answers.event} this incident, ${shownTime(answers.at)}. It was opened again since then.`;
      const how = 'Answer the newest message about it, or open the incident.';
      return [[id, { status: 409, heading: 'This link was used already.', paragraphs: [`${done} ${how}`] }]];
    }),
  );
}

export const NOTHING_LEFT = 'There is nothing left to do here.';

function idOf(by: IncidentActor | null): string[] {
  return by !== null && 'userId' in by ? [by.userId] : [];
}

/** Formats a time as RFC 3339, to the minute. */
function shownTime(at: Temporal.Instant): string {
  return `${at.toString().slice(0, 16).replace('T', ' ')} UTC`;
}
