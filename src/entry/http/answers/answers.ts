import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import {
  answerAsPerson,
  type Answered,
  answeredSentence,
  receiverOf,
  REFUSAL_NAMES,
  refusalOfAnswer,
  refusalSentence,
} from '#entry/http/answers/answer_as_person.ts';
import {
  type AnswerPage,
  FORGED_LINK,
  LEFT_ORGANIZATION,
  notForThem,
  sendAnswerPage,
} from '#entry/http/answers/answer_page.ts';
import { type AnswerContext, hasPin, pinFault, refuseWith } from '#entry/http/answers/refused_answers.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import { listIncidentsOf } from '#modules/incidents/paging/record_outcome.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import { type Answer, ANSWER_PATH, haveLinksExpired, SHORT_ANSWER_PATH } from '#notify/answer_link.ts';

interface Params {
  readonly answer: string;
  readonly notificationId: string;
  readonly seal: string;
}

interface ShortParams {
  readonly code: string;
}

/** Link that may act, and the message and incidents it acts on. */
interface ReadAnswer {
  readonly answer: Answer;
  readonly notification: NotificationRow;
  readonly incidents: readonly IncidentRow[];
  /** Answers already given, by incident, for incidents that this answer would not change. */
  readonly earlierAnswers: ReadonlyMap<string, GivenAnswer>;
}

const VERB: Record<Answer, string> = { acknowledge: 'Acknowledge', resolve: 'Resolve' };

const STATUS: Record<Answered['outcome'], number> = {
  done: 200,
  nothing_left: 200,
  resolved_already: 409,
  not_allowed: 403,
  refused: 403,
};

const LISTED_MAX = 20;

/**
 * Mounts the links in mail and push messages. GET only shows a question, since mail scanners open every link; POST acts
 * as the person whom the message was sent to. A forged, altered or expired link is answered 403 and audited.
 */
export async function mountAnswers(root: FastifyInstance, context: AnswerContext): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: 1024 });

    app.get<{ Params: Params }>(ANSWER_PATH, async (request, reply) => {
      const link = await readAnswer(context, request, request.params);
      return sendAnswerPage(reply, 'heading' in link ? link : questionOf(context, link));
    });

    app.post<{ Params: Params }>(ANSWER_PATH, async (request, reply) => {
      const link = await readAnswer(context, request, request.params);
      return sendAnswerPage(reply, 'heading' in link ? link : await act(context, request, link));
    });

    app.get<{ Params: ShortParams }>(SHORT_ANSWER_PATH, async (request, reply) => {
      const link = await readShortAnswer(context, request, request.params.code);
      if ('heading' in link) return sendAnswerPage(reply, link);
      return sendAnswerPage(reply, {
        ...questionOf(context, link),
        asksPin: await hasPin(context, link.notification.userId),
      });
    });

    app.post<{ Params: ShortParams; Body: { pin?: unknown } | null }>(SHORT_ANSWER_PATH, async (request, reply) => {
      const link = await readShortAnswer(context, request, request.params.code);
      if ('heading' in link) return sendAnswerPage(reply, link);
      const refused = await refusedPin(context, link, request.body?.pin);
      return sendAnswerPage(reply, refused ?? (await act(context, request, link)));
    });
  });
}

async function readAnswer(
  context: AnswerContext,
  request: FastifyRequest,
  params: Params,
): Promise<ReadAnswer | AnswerPage> {
  const { answer, notificationId, seal } = params;
  const read = context.answerLinks.read(answer, notificationId, seal, context.clock.now());
  const stores = storesOf(context.db.session());
  const notification = await stores.notifications.find(read.notificationId);
  if (read.kind !== 'valid') return await refuse(context, request, answer, notification, read.kind);
  return await readIncidents(context, request, read.answer, notification);
}

async function readShortAnswer(
  context: AnswerContext,
  request: FastifyRequest,
  code: string,
): Promise<ReadAnswer | AnswerPage> {
  const { isGenuine, notificationId } = context.answerLinks.readShort(code);
  const stores = storesOf(context.db.session());
  const notification = await stores.notifications.find(notificationId);
  if (!isGenuine) return await refuse(context, request, 'acknowledge', notification, 'forged');
  if (notification !== null && haveLinksExpired(notification.createdAt, context.clock.now())) {
    return await refuse(context, request, 'acknowledge', notification, 'expired');
  }
  return await readIncidents(context, request, 'acknowledge', notification);
}

/** Returns the question again with the fault of the PIN; null if the PIN is right, or none is set. */
async function refusedPin(context: AnswerContext, link: ReadAnswer, entered: unknown): Promise<AnswerPage | null> {
  const fault = await pinFault(context, link.notification.userId, entered);
  return fault === null ? null : refuseWith(fault, { ...questionOf(context, link), asksPin: true });
}

async function refuse(
  context: AnswerContext,
  request: FastifyRequest,
  answer: string,
  notification: NotificationRow | null,
  because: 'forged' | 'expired',
): Promise<AnswerPage> {
  const via = viaOf(notification);
  const action = answer === 'resolve' ? 'resolve_incident' : 'acknowledge_incident';
  await context.refusedAnswers.record(request, { action, via, notification, why: `${because} link` });
  return because === 'expired' ? EXPIRED : FORGED_LINK;
}

async function readIncidents(
  context: AnswerContext,
  request: FastifyRequest,
  answer: Answer,
  notification: NotificationRow | null,
): Promise<ReadAnswer | AnswerPage> {
  if (notification === null) return GONE;
  const refused = await refuseSpeaking(context, request, answer, notification);
  if (refused !== null) return refused;
  const stores = storesOf(context.db.session());
  const incidents = await listIncidentsOf(stores, notification);
  if (incidents.length === 0 && notification.kind !== 'digest') return GONE;
  const earlierAnswers = await findEarlierAnswers(stores, answer, notification, incidents);
  return { answer, notification, incidents, earlierAnswers };
}

/** Returns the page for somebody whom this link may not answer for; null if it may. */
async function refuseSpeaking(
  context: AnswerContext,
  request: FastifyRequest,
  answer: Answer,
  notification: NotificationRow,
): Promise<AnswerPage | null> {
  const receiver = receiverOf(notification, { requestId: request.id, address: request.ip });
  const refusal = await refusalOfAnswer(context, receiver, answer);
  if (refusal === null) return null;
  if (refusal === 'no_member') return LEFT_ORGANIZATION;
  const action = answer === 'resolve' ? 'resolve_incident' : 'acknowledge_incident';
  if (request.method === 'POST') {
    const why = REFUSAL_NAMES[refusal];
    await context.refusedAnswers.record(request, { action, via: viaOf(notification), notification, why });
  }
  return notForThem(refusalSentence(refusal, context, notification));
}

function questionOf(
  context: AnswerContext,
  { answer, notification, incidents, earlierAnswers }: ReadAnswer,
): AnswerPage {
  const { orgId } = notification;
  const link = linkToIncidents(context, orgId, incidents);
  const [only, ...others] = incidents;
  if (only !== undefined && others.length === 0) {
    const about = `Incident ${only.number}, severity ${only.severity},`;
    const triggered = `was triggered ${shownTime(only.triggeredAt)}.`;
    const paragraphs = [
      only.status === 'triggered' ? `${about} ${triggered}` : `${about} is ${only.status}. It ${triggered}`,
    ];
    const page = { status: 200, heading: `${only.serviceName}: ${only.title}`, paragraphs, link };
    const done = earlierAnswers.get(only.id);
    if (done === undefined) return { ...page, button: VERB[answer] };
    return { ...page, paragraphs: [...paragraphs, ...done.paragraphs] };
  }
  const paragraphs = incidents.slice(0, LISTED_MAX).map(({ number, serviceName, title, severity, status }) => {
    return `Incident ${number}: ${serviceName}: ${title}, severity ${severity}, is ${status}.`;
  });
  const left = incidents.length - paragraphs.length;
  if (left > 0) paragraphs.push(`And ${left} more.`);
  return incidents.some(({ id }) => !earlierAnswers.has(id))
    ? { status: 200, heading: `${VERB[answer]} ${incidents.length} incidents?`, paragraphs, link, button: VERB[answer] }
    : { status: 200, heading: NOTHING_LEFT, paragraphs, link };
}

async function act(context: AnswerContext, request: FastifyRequest, pageLink: ReadAnswer): Promise<AnswerPage> {
  const { answer, notification, incidents, earlierAnswers } = pageLink;
  const link = linkToIncidents(context, notification.orgId, incidents);
  const [only] = incidents;
  const done = incidents.length === 1 ? earlierAnswers.get(only?.id ?? '') : undefined;
  if (done !== undefined) return { ...done, link };
  const answerer = receiverOf(notification, { requestId: request.id, address: request.ip });
  const ids = incidents.map(({ id }) => id).filter((id) => !earlierAnswers.has(id));
  await storesOf(context.db.session()).notifications.markAnswered(notification.id, context.clock.now());
  const answered = await answerAsPerson(context, answerer, ids, answer);
  const paragraphs =
    incidents.length === 1 ? incidents.map(({ serviceName, title }) => `${serviceName}: ${title}`) : [];
  return { status: STATUS[answered.outcome], heading: answeredSentence(answered, answer), paragraphs, link };
}

/** Links to the full details, for people who are signed in. */
function linkToIncidents(
  { config: { baseUrl } }: AnswerContext,
  orgId: string,
  incidents: readonly IncidentRow[],
): NonNullable<AnswerPage['link']> {
  const [only, ...others] = incidents;
  return only === undefined || others.length > 0
    ? { text: 'Open the incidents', url: linkTo(baseUrl, PAGES.incidents, orgId) }
    : { text: 'Open the incident', url: linkTo(baseUrl, `${PAGES.incidents}/${only.id}`, orgId) };
}

function viaOf(notification: NotificationRow | null): Via {
  return notification === null ? 'email' : notification.channel;
}

const EXPIRED: AnswerPage = {
  status: 403,
  heading: 'This link has expired.',
  paragraphs: ['Links in messages work for seven days. Open the incident in Tocsin instead.'],
};

const GONE: AnswerPage = {
  status: 404,
  heading: 'This incident is gone.',
  paragraphs: ['Its service may have been deleted since the message was sent.'],
};

/** Page shown when an answer to an incident changes nothing any more. */
type GivenAnswer = Pick<AnswerPage, 'status' | 'heading' | 'paragraphs'>;

/**
 * Returns the incidents that an answer to the message would not change, by their ids: somebody has given it already. A
 * link gives its answer once: if its person has given it since the message was sent, and the incident was reopened,
 * another message asks again.
 */
async function findEarlierAnswers(
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

const NOTHING_LEFT = 'There is nothing left to do here.';

function idOf(by: IncidentActor | null): string[] {
  return by !== null && 'userId' in by ? [by.userId] : [];
}

/** Formats a time as RFC 3339, to the minute; no line ends within it. */
function shownTime(at: Temporal.Instant): string {
  return `${at.toString().slice(0, 16).replaceAll('-', '\u2011').replace('T', '\u00A0')}\u00A0UTC`;
}
