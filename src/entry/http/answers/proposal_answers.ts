import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { proposalStateOf, type ProposalText, proposalText } from '#modules/agents/decide/proposal.ts';
import { quoted, visibleJson } from '#modules/agents/decide/agent_text.ts';
import {
  type AnswerPage,
  FORGED_LINK,
  LEFT_ORGANIZATION,
  notForThem,
  sendAnswerPage,
} from '#entry/http/answers/answer_page.ts';
import {
  answerProposalAsPerson,
  proposalUrl,
  receiverOf,
  REFUSAL_NAMES,
  refusalSentence,
  speakFor,
} from '#entry/http/answers/answer_as_person.ts';
import { type AnswerContext, hasPin, pinFault, refuseWith } from '#entry/http/answers/refused_answers.ts';
import { describeProposal } from '#modules/agents/proposed_objects.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { PROPOSAL_ANSWER_PATH } from '#notify/answer_link.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import { storesOf } from '#modules/stores.ts';

interface Params {
  readonly code: string;
}

interface Found {
  readonly notification: NotificationRow;
  readonly proposal: ProposalRow & ProposalText;
}

/**
 * Mounts the links that ask about a proposal of an agent. GET only shows the question; POST answers, as the person whom
 * the message was sent to. A forged link is answered 403 and audited.
 */
export async function mountProposalAnswers(root: FastifyInstance, context: AnswerContext): Promise<void> {
  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: 1024 });

    app.get<{ Params: Params }>(PROPOSAL_ANSWER_PATH, async (request, reply) => {
      const proposalAnswer = await find(context, request, request.params.code);
      return sendAnswerPage(
        reply,
        'heading' in proposalAnswer ? proposalAnswer : await questionOf(context, proposalAnswer),
      );
    });

    app.post<{ Params: Params; Body: { answer?: unknown; pin?: unknown } | null }>(
      PROPOSAL_ANSWER_PATH,
      async (request, reply) => {
        const proposalAnswer = await find(context, request, request.params.code);
        if ('heading' in proposalAnswer) return sendAnswerPage(reply, proposalAnswer);
        const { answer, pin } = request.body ?? {};
        const refused = await refusedPin(context, proposalAnswer, pin);
        return sendAnswerPage(
          reply,
          refused ?? (await act(context, request, proposalAnswer, answer === 'no' ? 'no' : 'yes')),
        );
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
  const { orgId, proposalId } = notification;
  const speaking = await speakFor(context, receiverOf(notification, originOf(request)), 'more');
  if ('refusal' in speaking) {
    const { refusal } = speaking;
    if (refusal === 'no_member') return LEFT_ORGANIZATION;
    if (request.method === 'POST') {
      const [via, why] = [notification.channel, REFUSAL_NAMES[refusal]];
      await context.refusedAnswers.record(request, { action: 'answer_proposal', via, notification, why });
    }
    return notForThem(refusalSentence(refusal, context, notification));
  }
  const proposal = await stores.proposals.find(orgId, proposalId);
  return proposal === null ? GONE : { notification, proposal: await describeProposal(stores, proposal) };
}

async function questionOf(context: AnswerContext, answer: Found): Promise<AnswerPage> {
  const { proposal, notification } = answer;
  const state = proposalStateOf(proposal, context.clock.now());
  const heading = proposalText(proposal);
  const link = { text: 'Open the incident', url: proposalUrl(context, proposal) };
  const page = {
    status: 200,
    heading,
    paragraphs: [...inputOf(proposal), ...proposal.evidence.map((text) => `Evidence: ${quoted(text)}`)],
    link,
  };
  if (state !== 'proposed') return { ...page, paragraphs: [...page.paragraphs, STATES[state]] };
  const asksPin = await hasPin(context, notification.userId);
  return proposal.kind === 'question'
    ? { ...page, button: 'Yes', otherButton: 'No', asksPin }
    : { ...page, button: 'Approve', otherButton: 'Reject', asksPin };
}

function originOf(request: FastifyRequest): RequestOrigin {
  return { requestId: request.id, address: request.ip };
}

/** Returns the exact input of the proposed action; empty if it has none. */
function inputOf({ input }: ProposalRow): string[] {
  return input === null ? [] : [`With: ${visibleJson(input)}`];
}

const STATES = {
  approved: 'This was answered with yes already.',
  rejected: 'This was rejected already.',
  carried_out: 'This was approved and done already.',
  expired: 'This has expired. Nothing was changed.',
} as const;

async function refusedPin(context: AnswerContext, answer: Found, entered: unknown): Promise<AnswerPage | null> {
  const fault = await pinFault(context, answer.notification.userId, entered);
  return fault === null ? null : refuseWith(fault, await questionOf(context, answer));
}

async function act(
  context: AnswerContext,
  request: FastifyRequest,
  { notification, proposal }: Found,
  answer: 'yes' | 'no',
): Promise<AnswerPage> {
  const answerer = receiverOf(notification, originOf(request));
  const { isDone, sentence } = await answerProposalAsPerson(context, answerer, proposal, answer);
  const link = { text: 'Open the incident', url: proposalUrl(context, proposal) };
  return { status: isDone ? 200 : 409, heading: sentence, paragraphs: [proposalText(proposal)], link };
}

const GONE: AnswerPage = {
  status: 404,
  heading: 'This proposal is gone.',
  paragraphs: ['Its service may have been deleted since the message was sent.'],
};
