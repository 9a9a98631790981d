import pLimit from 'p-limit';

import { runAction } from '#actions/run_action.ts';
import { type Refusal, refusalOf } from '#auth/may_act.ts';
import type { AppContext } from '#entry/compose.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Role, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Caller, Via } from '#modules/accounts/decide/caller.ts';
import type { ProposalAnswer } from '#modules/agents/decide/proposal.ts';
import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import { declarationOf } from '#modules/contacts/decide/channel.ts';
import { acknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { resolveIncident } from '#modules/incidents/operations/resolve_incident.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import { storesOf } from '#modules/stores.ts';
import type { Answer } from '#notify/answer_link.ts';

export interface Answered {
  readonly outcome: 'done' | 'nothing_left' | 'resolved_already' | 'not_allowed' | 'refused';
  /** Number of incidents acknowledged or resolved by now. */
  readonly count: number;
  /** Incidents that this answer has acknowledged or resolved. */
  readonly doneIds: readonly Id<'incident'>[];
  /** Sentence that says why the message may not speak for its person; null unless it was refused. */
  readonly refusal: string | null;
}

/** Incidents answered concurrently: a storm has hundreds, and a caller waits on the line until all are acknowledged. */
const CONCURRENCY = 8;

/** Acknowledges or resolves incidents through the same actions as everybody, with the person's current role. */
export async function answerAsPerson(
  context: AppContext,
  answerer: Answerer,
  incidentIds: readonly Id<'incident'>[],
  answer: Answer,
): Promise<Answered> {
  const speaking = await speakFor(context, answerer, wantsOf(answer));
  if ('refusal' in speaking) {
    return { outcome: 'refused', count: 0, doneIds: [], refusal: refusalSentence(speaking.refusal, context, answerer) };
  }
  const outcomes = await pLimit(CONCURRENCY).map(incidentIds, (id) =>
    answerIncident(context, speaking.caller, answerer.origin, id, answer),
  );
  const doneIds = incidentIds.filter((_, nth) => outcomes[nth] === 'done');
  const count = doneIds.length;
  return { outcome: count > 0 ? 'done' : (outcomes[0] ?? 'nothing_left'), count, doneIds, refusal: null };
}

/** Returns why this person may not give this answer; null if they may, as far as it does not depend on their role. */
export async function refusalOfAnswer(
  context: AppContext,
  answerer: Omit<Answerer, 'origin'>,
  answer: Answer,
): Promise<Refusal | null> {
  const speaking = await speakFor(context, answerer, wantsOf(answer));
  return 'refusal' in speaking ? speaking.refusal : null;
}

function wantsOf(answer: Answer): 'acknowledge' | 'more' {
  return answer === 'acknowledge' ? 'acknowledge' : 'more';
}

async function answerIncident(
  context: AppContext,
  caller: Caller,
  origin: RequestOrigin,
  incidentId: Id<'incident'>,
  answer: Answer,
): Promise<Answered['outcome']> {
  const action = answer === 'acknowledge' ? acknowledgeIncident : resolveIncident;
  try {
    await runAction(context.actions, action, caller, { incidentId }, origin);
    return 'done';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'conflict') return 'resolved_already';
    if (error.code === 'forbidden') return 'not_allowed';
    if (error.code === 'not_found') return 'nothing_left';
    throw error;
  }
}

export function answeredSentence({ outcome, count, refusal }: Omit<Answered, 'doneIds'>, answer: Answer): string {
  switch (outcome) {
    case 'done': {
      const done = answer === 'acknowledge' ? 'Acknowledged' : 'Resolved';
      return count === 1 ? `${done}. Thank you.` : `${done} ${count} incidents. Thank you.`;
    }
    case 'nothing_left':
      return 'No incident of yours waits for an answer.';
    case 'resolved_already':
      return 'This incident is resolved already.';
    case 'not_allowed':
      return 'Your role does not allow this.';
    case 'refused':
      return refusal ?? 'This message may not answer.';
  }
}

/** Person who answers a message, and the channel they use. */
export interface Answerer {
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
  readonly via: Via;
  /** Phone number that the answer comes from, or that the link was sent to; null for mail and push. */
  readonly number: string | null;
  /** Role of whoever knows the secret of the chat that the answer comes from; absent for other answers. */
  readonly secretRole?: Role | null;
  /** Set for an answer on the page that the link of an SMS opens. */
  readonly byLink?: true;
  readonly origin: RequestOrigin;
}

/** Caller for the person of an answer, with their current role; or why the answer may not speak for them. */
type Speaking = { readonly caller: Caller } | { readonly refusal: Refusal };

/** Returns the answerer behind a link in this message, or behind a key pressed in this call. */
export function receiverOf({ orgId, userId, channel, address }: NotificationRow, origin: RequestOrigin): Answerer {
  return {
    orgId,
    userId,
    via: channel,
    number: declarationOf(channel).addressKind === 'phone' ? (address ?? '') : null,
    ...(channel === 'sms' && { byLink: true }),
    origin,
  };
}

/** Returns the caller of this answer, or why it may not speak for its person. No session can show a second factor. */
export async function speakFor(
  { db }: Pick<AppContext, 'db'>,
  { orgId, userId, via, number, byLink, ...chat }: Omit<Answerer, 'origin'>,
  wants: 'acknowledge' | 'more',
): Promise<Speaking> {
  const { people, phoneNumbers } = storesOf(db.session());
  const standing = await people.findStanding(orgId, userId);
  const claim = number === null ? null : await phoneNumbers.claimOf(userId, number);
  const refusal = refusalOf(standing, { kind: 'message', number: claim, wants, ...chat });
  if (standing === null || refusal !== null) return { refusal: refusal ?? 'no_member' };
  const actor = { kind: 'user', userId, apiKeyId: null, ...(byLink && { byLink }) } as const;
  const permissions = new Set(ROLE_PERMISSIONS[standing.role]);
  return { caller: { orgId, actor, via, mustStepUp: standing.hasSecondFactor, permissions } };
}

/** Names of refusals in the audit log. */
export const REFUSAL_NAMES: Readonly<Record<Refusal, string>> = {
  no_member: 'no member',
  address_not_allowed: 'address not allowed',
  provider_required: 'provider required',
  other_provider: 'provider of another organization',
  second_factor_missing: 'second factor missing',
  second_factor_not_shown: 'second factor not shown',
  number_unconfirmed: 'number not confirmed',
  number_of_another: 'number of somebody else',
  place_of_lower_role: 'place set up by a lower role',
};

/** Returns the refusal as a sentence that says what to do. */
export function refusalSentence(
  refusal: Refusal,
  { config: { baseUrl } }: Pick<AppContext, 'config'>,
  { orgId }: Pick<Answerer, 'orgId'>,
): string {
  const page = linkTo(baseUrl, PAGES.me, orgId);
  switch (refusal) {
    case 'no_member':
      return 'You no longer belong to this organization.';
    case 'second_factor_missing':
    case 'second_factor_not_shown':
      return `Your organization requires a second factor of you: without it, a message only acknowledges. Set one up: ${page}`;
    case 'number_unconfirmed':
      return `This number is not confirmed, so it only acknowledges. Confirm it, or answer in the console: ${page}`;
    case 'place_of_lower_role':
      return `Somebody of a lower role has set this place up, so it only acknowledges for you. Enter its settings again yourself, or answer in the console: ${page}`;
    case 'address_not_allowed':
    case 'provider_required':
    case 'other_provider':
      return `Answer in the console: ${page}`;
    case 'number_of_another':
      return 'This number does not answer for you: answer from the number that you have confirmed, or in the console.';
  }
}

/** Result of an answer to a proposal: whether it was done, and a sentence for the person. */
interface ProposalAnswered {
  readonly isDone: boolean;
  readonly sentence: string;
}

/** Answers a proposal through the same operation as the console, with the person's current role. */
export async function answerProposalAsPerson(
  context: AppContext,
  answerer: Answerer,
  proposal: Pick<ProposalRow, 'id' | 'orgId' | 'incidentId' | 'number' | 'kind' | 'action'>,
  answer: ProposalAnswer,
): Promise<ProposalAnswered> {
  const speaking = await speakFor(context, answerer, 'more');
  if ('refusal' in speaking) return { isDone: false, sentence: refusalSentence(speaking.refusal, context, answerer) };
  try {
    const input = { proposalId: proposal.id, answer };
    await runAction(context.actions, answerProposal, speaking.caller, input, answerer.origin);
    return { isDone: true, sentence: doneSentence(proposal, answer) };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { isDone: false, sentence: refusedSentence(error, context, proposal) };
  }
}

export function proposalUrl(
  { config }: Pick<AppContext, 'config'>,
  { orgId, incidentId, number }: Pick<ProposalRow, 'orgId' | 'incidentId' | 'number'>,
): string {
  return `${linkTo(config.baseUrl, `${PAGES.incidents}/${incidentId}`, orgId)}#proposal-${number}`;
}

function refusedSentence(error: AppError, context: AppContext, proposal: Parameters<typeof proposalUrl>[1]): string {
  if (error.code === 'step_up_required') {
    return `This needs your second factor. Answer in the console: ${proposalUrl(context, proposal)}`;
  }
  const why = error.code === 'forbidden' ? 'Your role does not allow this' : capital(error.message);
  return `${why.replace(/\.$/, '')}.`;
}

function doneSentence({ kind, action }: Pick<ProposalRow, 'kind' | 'action'>, answer: ProposalAnswer): string {
  if (kind === 'question') return `Your answer is ${answer}. Thank you.`;
  return answer === 'no'
    ? 'Rejected. Nothing was changed.'
    : `Done: ${(action ?? '').replaceAll('_', ' ')}. Thank you.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
