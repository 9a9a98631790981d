import type { Static } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { ALERTS_SHOWN, toAlertView } from '#modules/alerts/view.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { digestOfIncident } from '#modules/incidents/operations/digest.ts';
import { readEvidence } from '#modules/incidents/evidence.ts';
import { NOTES_MAX, toNoteView } from '#modules/incidents/notes.ts';
import {
  IncidentWithLogView,
  LOG_MAX,
  TIMELINE_MAX,
  toEscalationWithStepsView,
  toIncidentView,
  toMemberView,
  INCIDENT_WITH_LOG_EXAMPLE,
  INCIDENT_UNTRUSTED_TEXT,
} from '#modules/incidents/view.ts';
import { toNotificationView } from '#modules/notifications/view.ts';
import { pageKey, type SimulatedPages, timelineText, userIdsIn } from '#modules/incidents/decide/timeline_text.ts';
import { isSimulatedId } from '#modules/contacts/decide/contact.ts';
import type { TimelineRow } from '#modules/incidents/store/incident_timeline_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { toTimestamp } from '#kernel/time.ts';
import { firstStepIndex } from '#modules/policies/decide/escalation.ts';

/** Limit on the members shown; the count of all of them is in the details. */
const MEMBERS_SHOWN = 200;

export const getIncident = defineAction({
  name: 'get_incident',
  summary:
    'Return one incident with its escalation steps as they were at the trigger, its notification log, notes, timeline and evidence: deploys, changes, new exceptions, metrics that moved and similar incidents around it.',
  guidance: 'Call it first when you look for a cause.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: IncidentWithLogView,
  untrustedText: [...INCIDENT_UNTRUSTED_TEXT, 'alerts', 'timeline[].text', 'evidence'],
  aliases: ['show_incident', 'get_incident_context', 'get_incident_evidence', 'get_notification_log'],
  digest: digestOfIncident,
  example: { incidentId: IDS.incidentId },
  exampleResult: INCIDENT_WITH_LOG_EXAMPLE,
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const [steps, notifications, timeline, notes, evidence] = await Promise.all([
      stores.stepTimers.listSteps([incident.id]),
      stores.notifications.listOf(incident.id, LOG_MAX),
      stores.timeline.list(incident.id, TIMELINE_MAX),
      stores.incidentNotes.list(incident.id, NOTES_MAX),
      readEvidence(incident, context),
    ]);
    const isLogWhole = notifications.length < LOG_MAX;
    const [pages, members, alerts, people, notificationTotal, timelineTotal] = await Promise.all([
      isLogWhole
        ? notifications.filter(({ kind }) => kind === 'page')
        : stores.notifications.listStepOutcomes(incident.id, firstStepIndex(incident.steps)),
      stores.storms.listMembers(incident.id, MEMBERS_SHOWN),
      incident.kind === 'alert' ? stores.alerts.listOfIncident(incident.id, ALERTS_SHOWN) : [],
      stores.people.listPeople(caller.orgId, userIdsIn(timeline)),
      isLogWhole ? notifications.length : stores.notifications.countOf(incident.id),
      timeline.length < TIMELINE_MAX ? timeline.length : stores.timeline.count(incident.id),
    ]);
    const names = new Map([...people.values()].map(({ userId, name }) => [userId as string, name]));
    const simulated = new Set(
      notifications
        .filter(({ providerId }) => isSimulatedId(providerId, context.installation.simulatedIds))
        .map(({ userId, channel, stepIndex }) => pageKey(userId, channel, stepIndex)),
    );
    return {
      ...toIncidentView(incident, steps),
      escalation: toEscalationWithStepsView(incident, steps, pages, onlySimulated(notifications, context.installation)),
      members: members.map(toMemberView),
      alerts: alerts.map(toAlertView),
      notifications: notifications.map((entry) => toNotificationView(entry, context.installation)),
      notificationTotal,
      notes: notes.map(toNoteView),
      timeline: toTimelineView(timeline, names, simulated),
      timelineTotal,
      evidence,
    };
  },
});

/** Returns a function that tells whether only the phone simulator took messages of a step to a person. */
function onlySimulated(
  notifications: readonly NotificationRow[],
  { simulatedIds }: Pick<ActionContext['installation'], 'simulatedIds'>,
): (stepIndex: number, userId: string) => boolean {
  const taken = notifications.filter(({ status }) => status === 'sent' || status === 'delivered');
  const byPerson = Map.groupBy(taken, ({ stepIndex, userId }) => `${stepIndex} ${userId}`);
  return (stepIndex, userId) =>
    byPerson.get(`${stepIndex} ${userId}`)?.every(({ providerId }) => isSimulatedId(providerId, simulatedIds)) ?? false;
}

function toTimelineView(
  timeline: readonly TimelineRow[],
  names: ReadonlyMap<string, string>,
  simulated: SimulatedPages,
): Static<typeof IncidentWithLogView>['timeline'] {
  return timeline.map(({ at, event, data }) => ({
    at: toTimestamp(at),
    event,
    text: timelineText(event, data, names, simulated),
  }));
}
