import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { quoted } from './agent_text.ts';

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

export function statusAfter(kind: ProposalKind, answer: ProposalAnswer): Exclude<ProposalStatus, 'proposed'> {
  if (answer === 'no') return 'rejected';
  return kind === 'action' ? 'carried_out' : 'approved';
}

/** An object that the input of a proposal names by its id, with the name that it has here. */
export interface ProposedObject {
  /** Kind of the object, such as `service`. */
  readonly noun: string;
  /** Name of the object, such as `"checkout"`; null when there is no such object here. */
  readonly name: string | null;
}

/** A proposal as far as messages need it. */
export interface ProposalText {
  /** Number that a person types in a reply. */
  readonly number: number;
  readonly agentName: string;
  /** The name of the action; null for a question. */
  readonly action: string | null;
  /** Objects that the action would affect, by the names that they have here, whatever the agent says. */
  readonly objects: readonly ProposedObject[];
  /** The reason, or the question. */
  readonly sentence: string;
  readonly evidence: readonly string[];
}

/** Returns `delete service "checkout"`: what would be done, without a word of the agent's. */
export function proposedText({ action, objects }: Pick<ProposalText, 'action' | 'objects'>): string {
  const words = (action ?? '').replaceAll('_', ' ');
  const [first, ...others] = objects;
  if (first === undefined) return words;
  const named = words.endsWith(first.noun) ? `${words} ${nameOf(first)}` : `${words}: ${first.noun} ${nameOf(first)}`;
  return [named, ...others.map((other) => `${other.noun} ${nameOf(other)}`)].join(', ');
}

/** Returns the proposal or the question, with the agent's own words set apart. */
export function proposalText(proposal: Omit<ProposalText, 'number' | 'evidence'>): string {
  const { agentName, action, sentence } = proposal;
  const agent = `The agent ${quoted(agentName)}`;
  return action === null
    ? `${agent} asks: ${quoted(sentence)}`
    : `${agent} proposes to ${proposedText(proposal)}. It says: ${quoted(sentence)}`;
}

function nameOf({ name }: ProposedObject): string {
  return name ?? 'that is not known here';
}
