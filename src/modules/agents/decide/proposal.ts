import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

/**
 * Kind of a proposal: an `action` is carried out when a person approves it; a `question` is answered with yes or no,
 * and a few words.
 */
export type ProposalKind = 'action' | 'question';

/** Status as stored. `approved` is a question that was answered with yes; an action is approved by carrying it out. */
export type ProposalStatus = 'proposed' | 'approved' | 'rejected' | 'carried_out';

export const PROPOSAL_MINUTES_DEFAULT = 60;
export const PROPOSAL_MINUTES_MAX = 240;

/** Limit on the proposals and questions of one incident that wait for an answer. */
export const OPEN_PROPOSALS_MAX = 5;

/** Returns the state of a proposal. `expired`: nobody has answered in time, and nobody can any more. */
export function proposalStateOf(
  { status, expiresAt }: { readonly status: ProposalStatus; readonly expiresAt: Temporal.Instant },
  now: Temporal.Instant,
): ProposalStatus | 'expired' {
  return status === 'proposed' && isAtOrBefore(expiresAt, now) ? 'expired' : status;
}

export type ProposalAnswer = 'yes' | 'no';

/** Returns the status after an answer. */
export function statusAfter(kind: ProposalKind, answer: ProposalAnswer): Exclude<ProposalStatus, 'proposed'> {
  if (answer === 'no') return 'rejected';
  return kind === 'action' ? 'carried_out' : 'approved';
}
