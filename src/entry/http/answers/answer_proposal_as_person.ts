import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import { runAction } from '#actions/run_action.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { ProposalAnswer } from '#modules/agents/decide/proposal.ts';
import type { AppContext } from '#entry/compose.ts';
import { type Answerer, refusalSentence, speakFor } from '#entry/http/answers/answer_as_person.ts';
import { AppError } from '#kernel/errors.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';

/** Result of an answer to a proposal: whether it was done, and a sentence for the person. */
export interface ProposalAnswered {
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
  if ('refusal' in speaking) {
    return { isDone: false, sentence: refusalSentence(speaking.refusal, context, answerer) };
  }
  try {
    const input = { proposalId: proposal.id, answer };
    await runAction(context.actions, answerProposal, speaking.caller, input, answerer.origin);
    return { isDone: true, sentence: doneSentence(proposal, answer) };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { isDone: false, sentence: refusedSentence(error, context, proposal) };
  }
}

/** Returns the address of the proposal in the console. */
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
