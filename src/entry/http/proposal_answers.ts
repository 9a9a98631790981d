import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { linkTo } from '#core/console/link_to.ts';
import { PAGES } from '#core/console/pages.ts';
import { proposalStateOf } from '#core/responder/proposal.ts';
import { type AnswerPage, FORGED_LINK, LEFT_ORGANIZATION, sendAnswerPage } from '#entry/http/answer_page.ts';
import { hasPin, pinFault, refuseWith } from '#entry/http/answer_pin.ts';
import { answerProposalAsPerson } from '#entry/http/answer_proposal_as_person.ts';
import type { AnswerContext } from '#entry/http/refused_answers.ts';
import { PROPOSAL_ANSWER_PATH } from '#notify/answer_link.ts';
import { proposalText } from '#notify/message.ts';
import type { NotificationRow } from '#storage/postgres/notification_row.ts';
import type { ProposalRow } from '#storage/postgres/proposal_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';

interface Params {
  readonly code: string;
}

interface Found {
  readonly notification: NotificationRow;
  readonly proposal: ProposalRow;
}

/**
 * The links that ask about a proposal of an agent. GET only asks; POST answers, as the person whom the message was sent
 * to. What is forged is 403 and audited.
 */
export async function mountProposalAnswers(root: FastifyInstance, context: AnswerContext): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: 1024 });

    app.get<{ Params: Params }>(PROPOSAL_ANSWER_PATH, async (request, reply) => {
      const found = await find(context, request, request.params.code);
      return sendAnswerPage(reply, 'heading' in found ? found : await questionOf(context, found));
    });

    app.post<{ Params: Params; Body: { answer?: unknown; pin?: unknown } | null }>(
      PROPOSAL_ANSWER_PATH,
      async (request, reply) => {
        const found = await find(context, request, request.params.code);
        if ('heading' in found) return sendAnswerPage(reply, found);
        const { answer, pin } = request.body ?? {};
        const refused = await refusedPin(context, found, pin);
        return sendAnswerPage(reply, refused ?? (await act(context, request, found, answer === 'no' ? 'no' : 'yes')));
      },
    );
  });
}

async function find(context: AnswerContext, request: FastifyRequest, code: string): Promise<Found | AnswerPage> {
  const { isGenuine, notificationId } = context.answerLinks.readProposal(code);
  const stores = storesOf(context.db.session());
  const notification = await stores.notifications.find(notificationId);
  if (!isGenuine) {
    const via = notification?.channel ?? 'email';
    await context.refusedAnswers.record(request, { action: 'answer_proposal', via, notification, why: 'forged link' });
    return FORGED_LINK;
  }
  if (notification?.proposalId == null) return GONE;
  const { orgId, userId, proposalId } = notification;
  if ((await stores.people.findRole(orgId, userId)) === null) return LEFT_ORGANIZATION;
  const proposal = await stores.proposals.find(orgId, proposalId);
  return proposal === null ? GONE : { notification, proposal };
}

async function questionOf(context: AnswerContext, found: Found): Promise<AnswerPage> {
  const { proposal, notification } = found;
  const state = proposalStateOf(proposal, context.clock.now());
  const heading = proposalText(proposal);
  const link = { text: 'Open the incident', url: linkOf(context, proposal) };
  const page = { status: 200, heading, paragraphs: [...inputOf(proposal), ...proposal.evidence], link };
  if (state !== 'proposed') return { ...page, paragraphs: [...page.paragraphs, STATES[state]] };
  const asksPin = await hasPin(context, notification.userId);
  return proposal.kind === 'question'
    ? { ...page, button: 'Yes', otherButton: 'No', asksPin }
    : { ...page, button: 'Approve', otherButton: 'Reject', asksPin };
}

function linkOf({ config }: AnswerContext, { orgId, incidentId }: Pick<ProposalRow, 'orgId' | 'incidentId'>): string {
  return linkTo(config.baseUrl, `${PAGES.incidents}/${incidentId}`, orgId);
}

/** What exactly would be done. */
function inputOf({ input }: ProposalRow): string[] {
  return input === null ? [] : [`With: ${JSON.stringify(input)}`];
}

const STATES = {
  approved: 'This was answered with yes already.',
  rejected: 'This was rejected already.',
  carried_out: 'This was approved and done already.',
  expired: 'This has expired. Nothing was changed.',
} as const;

async function refusedPin(context: AnswerContext, found: Found, given: unknown): Promise<AnswerPage | null> {
  const fault = await pinFault(context, found.notification.userId, given);
  return fault === null ? null : refuseWith(fault, await questionOf(context, found));
}

async function act(
  context: AnswerContext,
  request: FastifyRequest,
  { notification: { orgId, userId, channel: via }, proposal }: Found,
  answer: 'yes' | 'no',
): Promise<AnswerPage> {
  const origin = { requestId: request.id, address: request.ip };
  const { isDone, sentence } = await answerProposalAsPerson(context, { orgId, userId, via, origin }, proposal, answer);
  const link = { text: 'Open the incident', url: linkOf(context, proposal) };
  return { status: isDone ? 200 : 409, heading: sentence, paragraphs: [proposalText(proposal)], link };
}

const GONE: AnswerPage = {
  status: 404,
  heading: 'This proposal is gone.',
  paragraphs: ['Its service may have been deleted since the message was sent.'],
};
