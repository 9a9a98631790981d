import { quoted } from '#core/responder/visible_text.ts';

/** Something that the input of a proposal names by its id, as it is called here. */
export interface ProposedObject {
  /** What it is, such as `service`. */
  readonly noun: string;
  /** How it is called, such as `"checkout"`; null when there is no such thing here. */
  readonly name: string | null;
}

/** A proposal as far as messages need it. */
export interface ProposalText {
  /** What a person types in a reply. */
  readonly number: number;
  readonly agentName: string;
  /** The name of the action; null for a question. */
  readonly action: string | null;
  /** What the action would be done to, by the names that they have here, whatever the agent says. */
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

/** The proposal or the question, with the agent's own words set apart. */
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
