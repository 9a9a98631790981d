import { answerProposal } from '#actions/responder/answer_proposal.ts';
import { runAction } from '#actions/run_action.ts';
import type { Caller } from '#core/access/caller.ts';
import type { ProposalAnswer } from '#core/responder/proposal.ts';
import type { AppContext } from '#entry/compose.ts';
import type { Answerer } from '#entry/http/answer_as_person.ts';
import { AppError } from '#kernel/errors.ts';
import { ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { ProposalRow } from '#storage/postgres/proposal_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** What came of it: whether it was done, and a sentence for the person. */
export interface ProposalAnswered {
  readonly isDone: boolean;
  readonly sentence: string;
}

/** Answers a proposal through the same operation as the console, with the person's current role. */
export async function answerProposalAsPerson(
  context: AppContext,
  { orgId, userId, via, origin }: Answerer,
  proposal: Pick<ProposalRow, 'id' | 'kind' | 'action'>,
  answer: ProposalAnswer,
): Promise<ProposalAnswered> {
  const role = await storesOf(context.db.session()).people.findRole(orgId, userId);
  if (role === null) return { isDone: false, sentence: 'You no longer belong to this organization.' };
  const actor = { kind: 'user', userId, apiKeyId: null } as const;
  const caller: Caller = { orgId, actor, via, permissions: new Set(ROLE_PERMISSIONS[role]) };
  try {
    await runAction(context.actions, answerProposal, caller, { proposalId: proposal.id, answer }, origin);
    return { isDone: true, sentence: doneSentence(proposal, answer) };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const why = error.code === 'forbidden' ? 'Your role does not allow this' : capital(error.message);
    return { isDone: false, sentence: `${why.replace(/\.$/, '')}.` };
  }
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
