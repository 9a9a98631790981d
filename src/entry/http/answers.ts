import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { answerAsPerson, type Answered, answeredSentence } from '#entry/http/answer_as_person.ts';
import { type AnswerPage, sendAnswerPage } from '#entry/http/answer_page.ts';
import { recordRefusal } from '#entry/http/record_refusal.ts';
import { listIncidentsOf } from '#incidents/incidents_of_notification.ts';
import { type Answer, ANSWER_PATH } from '#notify/answer_link.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_row.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { declarationOf } from '#core/oncall/channel.ts';
import type { Via } from '#kernel/caller.ts';

interface Params {
  readonly answer: string;
  readonly notificationId: string;
  readonly seal: string;
}

/** A link that may act, and what it acts on. */
interface ReadAnswer {
  readonly answer: Answer;
  readonly notification: NotificationRow;
  readonly incidents: readonly IncidentRow[];
}

const VERB: Record<Answer, string> = { acknowledge: 'Acknowledge', resolve: 'Resolve' };

const STATUS: Record<Answered['outcome'], number> = {
  done: 200,
  nothing_left: 200,
  resolved_already: 409,
  not_allowed: 403,
  left_organization: 403,
};

const LISTED_MAX = 20;

/**
 * The links in mail and push messages. GET only asks, since mail scanners open every link; POST acts, as the person
 * whom the message was sent to. What is forged, altered or expired is 403 and audited.
 */
export async function mountAnswers(root: FastifyInstance, context: AppContext): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: 1024 });

    app.get<{ Params: Params }>(ANSWER_PATH, async (request, reply) => {
      const found = await readAnswer(context, request, request.params);
      return sendAnswerPage(reply, 'heading' in found ? found : questionOf(found));
    });

    app.post<{ Params: Params }>(ANSWER_PATH, async (request, reply) => {
      const found = await readAnswer(context, request, request.params);
      return sendAnswerPage(reply, 'heading' in found ? found : await act(context, request, found));
    });
  });
}

async function readAnswer(
  context: AppContext,
  request: FastifyRequest,
  params: Params,
): Promise<ReadAnswer | AnswerPage> {
  const { answer, notificationId, seal } = params;
  const read = context.answerLinks.read(answer, notificationId, seal, context.clock.now());
  const stores = storesOf(context.db.session());
  const notification = await stores.notifications.find(read.notificationId);
  if (read.kind !== 'valid') {
    const via = viaOf(notification);
    await recordRefusal(context, request, {
      action: `${answer}_incident`,
      via,
      notification,
      why: `${read.kind} link`,
    });
    return read.kind === 'expired' ? EXPIRED : FORGED;
  }
  const { orgId, userId } = notification ?? {};
  if (orgId !== undefined && userId !== undefined && (await stores.people.findRole(orgId, userId)) === null)
    return LEFT;
  const incidents = notification === null ? [] : await listIncidentsOf(stores, notification);
  if (notification === null || (incidents.length === 0 && notification.kind !== 'digest')) return GONE;
  return { answer: read.answer, notification, incidents };
}

function questionOf({ answer, incidents }: ReadAnswer): AnswerPage {
  const isOpen = (incident: IncidentRow) =>
    answer === 'acknowledge' ? incident.status === 'triggered' : incident.status !== 'resolved';
  const paragraphs = incidents.slice(0, LISTED_MAX).map(({ number, serviceName, title, severity, status }) => {
    return `Incident ${number}: ${serviceName}: ${title}, severity ${severity}, is ${status}.`;
  });
  const left = incidents.length - paragraphs.length;
  if (left > 0) paragraphs.push(`And ${left} more.`);
  const what = incidents.length === 1 ? 'this incident' : `${incidents.length} incidents`;
  return incidents.some(isOpen)
    ? { status: 200, heading: `${VERB[answer]} ${what}?`, paragraphs, button: VERB[answer] }
    : { status: 200, heading: 'There is nothing left to do here.', paragraphs };
}

async function act(context: AppContext, request: FastifyRequest, found: ReadAnswer): Promise<AnswerPage> {
  const { answer, notification, incidents } = found;
  const { orgId, userId } = notification;
  const origin = { requestId: request.id, address: request.ip };
  const answerer = { orgId, userId, via: viaOf(notification), origin };
  const ids = incidents.map(({ id }) => id);
  const answered = await answerAsPerson(context, answerer, ids, answer);
  const paragraphs =
    incidents.length === 1 ? incidents.map(({ serviceName, title }) => `${serviceName}: ${title}`) : [];
  return { status: STATUS[answered.outcome], heading: answeredSentence(answered, answer), paragraphs };
}

function viaOf(notification: NotificationRow | null): Via {
  return notification === null ? 'email' : declarationOf(notification.channel).linkVia;
}

const FORGED: AnswerPage = {
  status: 403,
  heading: 'This link is not valid.',
  paragraphs: ['It may have been cut off or altered on its way. Open the incident in Tocsin instead.'],
};

const EXPIRED: AnswerPage = {
  status: 403,
  heading: 'This link has expired.',
  paragraphs: ['Links in messages work for seven days. Open the incident in Tocsin instead.'],
};

/** Reveals nothing about the incident. */
const LEFT: AnswerPage = {
  status: 403,
  heading: 'This link no longer works.',
  paragraphs: ['You no longer belong to the organization that it is of.'],
};

const GONE: AnswerPage = {
  status: 404,
  heading: 'This incident is gone.',
  paragraphs: ['Its service may have been deleted since the message was sent.'],
};
