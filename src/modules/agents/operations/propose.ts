import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { ProposalView, responderOf, toProposalViews } from '#modules/agents/operations/view.ts';
import { linkTo } from '#modules/pages/decide/link_to.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import {
  OPEN_PROPOSALS_MAX,
  PROPOSAL_MINUTES_DEFAULT,
  type ProposalKind,
  proposalStateOf,
} from '#modules/agents/decide/proposal.ts';
import { proposedText } from '#modules/agents/decide/proposal_text.ts';
import { askPeople } from '#modules/agents/ask_people.ts';
import { describeProposal } from '#modules/agents/proposed_objects.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { addMinutesSaturating } from '#kernel/time.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';

/** Limit on the proposals of one incident, whatever became of them. */
const PROPOSALS_MAX = 100;

interface Asked {
  readonly kind: ProposalKind;
  readonly action: string | null;
  readonly input: Record<string, unknown> | null;
  readonly sentence: string;
  readonly evidence: readonly string[];
  readonly minutes: number | undefined;
  /** Receiver of the proposal; null: everybody whom a page has reached. */
  readonly userId: Id<'user'> | null;
}

export const AskedView = Type.Object({
  ...ProposalView.properties,
  peopleAsked: Type.Integer(),
  isRepeated: Type.Boolean({ description: 'the same proposal is already waiting: nobody was asked again' }),
  answerUrl: Type.String({ description: 'where a person who signs in answers it; give it to yours' }),
});

/**
 * Writes a proposal on an incident, which is locked, and sends it to people. One that still waits is not made twice.
 * Throws `conflict` when enough wait already.
 */
export async function propose(
  context: ActionContext,
  incident: IncidentRow,
  asked: Asked,
): Promise<Static<typeof AskedView>> {
  const { stores, now, caller } = context;
  const agent = responderOf(caller);
  if (incident.status === 'resolved')
    throw new AppError('conflict', 'this incident is resolved; nobody waits for a proposal');
  const all = await stores.proposals.listOf(incident.id, PROPOSALS_MAX);
  const open = all.filter((proposal) => proposalStateOf(proposal, now) === 'proposed');
  const earlier = open.find((proposal) => proposal.agentId === agent.agentId && isSame(proposal, asked));
  const made = earlier ?? (await insert(context, incident, asked, { open: open.length, all: all.length }));
  const peopleAsked = earlier === undefined ? await askPeople(context, made, asked.userId) : 0;
  const [view] = await toProposalViews([made], context);
  if (view === undefined) throw new Error('a proposal has a view');
  const page = linkTo(context.baseUrl, `${PAGES.incidents}/${incident.id}`, incident.orgId);
  const answerUrl = `${page}#proposal-${made.number}`;
  return { ...view, peopleAsked, isRepeated: earlier !== undefined, answerUrl };
}

async function insert(
  { stores, now, caller, record }: ActionContext,
  incident: IncidentRow,
  { kind, action, input, sentence, evidence, minutes = PROPOSAL_MINUTES_DEFAULT }: Asked,
  counts: { readonly open: number; readonly all: number },
): Promise<ProposalRow> {
  if (counts.open >= OPEN_PROPOSALS_MAX) {
    throw new AppError(
      'conflict',
      `${OPEN_PROPOSALS_MAX} proposals of this incident wait for an answer; wait until people have answered`,
    );
  }
  if (counts.all >= PROPOSALS_MAX) throw new AppError('conflict', `an incident has at most ${PROPOSALS_MAX} proposals`);
  const agent = responderOf(caller);
  const made = await stores.proposals.insert(
    {
      orgId: incident.orgId,
      incidentId: incident.id,
      kind,
      ...agent,
      action,
      input,
      sentence,
      evidence,
      expiresAt: addMinutesSaturating(now, minutes),
    },
    now,
  );
  record({
    target: incident.id,
    before: null,
    after: { proposalId: made.id, number: made.number, action, input, sentence },
  });
  const proposed = action === null ? null : proposedText(await describeProposal(stores, made));
  const entry = {
    agent: agent.agentName,
    number: made.number,
    sentence,
    ...(proposed !== null && { action: proposed }),
  };
  await stores.timeline.record(incident.id, kind === 'action' ? 'agent_proposed' : 'agent_asked', entry, now);
  return made;
}

function isSame(proposal: ProposalRow, { kind, action, input, sentence }: Asked): boolean {
  if (proposal.kind !== kind) return false;
  if (kind === 'question') return proposal.sentence === sentence;
  return proposal.action === action && JSON.stringify(proposal.input) === JSON.stringify(input);
}
