import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, StrictObject } from '#actions/fields.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { addMinutesSaturating } from '#kernel/time.ts';
import {
  OPEN_PROPOSALS_MAX,
  PROPOSAL_MINUTES_DEFAULT,
  PROPOSAL_MINUTES_MAX,
  type ProposalKind,
  proposalStateOf,
  proposedText,
} from '#modules/agents/decide/proposal.ts';
import { ProposalView, responderOf, toProposalViews } from '#modules/agents/operations/view.ts';
import { describeProposal } from '#modules/agents/proposed_objects.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import { deliverPage } from '#storage/queue/jobs.ts';

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

const AskedView = Type.Object({
  ...ProposalView.properties,
  peopleAsked: Type.Integer(),
  isRepeated: Type.Boolean({ description: 'the same proposal is already waiting: nobody was asked again' }),
  answerUrl: Type.String({ description: 'where a person who signs in answers it; give it to yours' }),
});

/**
 * Writes a proposal on an incident, which is locked, and sends it to people. One that still waits is not made twice.
 * Throws `conflict` when enough wait already.
 */
async function propose(context: ActionContext, incident: IncidentRow, asked: Asked): Promise<Static<typeof AskedView>> {
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

/** A reason or a question: short, since it is read on a phone at night. */
const Sentence = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description: 'a sentence or two' });

const Evidence = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  minItems: 1,
  maxItems: 10,
  description: 'what you saw, each in one line: value, time, where',
});

const ProposalMinutes = Type.Integer({
  minimum: 5,
  maximum: PROPOSAL_MINUTES_MAX,
  description: `until it expires; ${PROPOSAL_MINUTES_DEFAULT} when absent`,
});

/** Limit on the input, so that a person can read all of it before they approve. */
const INPUT_BYTES_MAX = 4_000;

export const proposeAction = defineOperation({
  name: 'propose_action',
  isForResponders: true,
  summary:
    'Propose to carry out an action that changes something (acknowledge_incident, set_exception_status, update_alert_rule …) with its input, a reason and evidence. Nothing happens unless a person approves it; get_proposal tells.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    action: Type.String({ minLength: 1, maxLength: 100, description: 'the name of an action of the API' }),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'the body that the action takes' }),
    reason: Sentence,
    evidence: Evidence,
    minutes: Type.Optional(ProposalMinutes),
  }),
  result: AskedView,
  conflict: 'the incident is resolved, or as many proposals wait as it may have',
  example: {
    action: 'acknowledge_incident',
    input: { incidentId: EXAMPLE_IDS.incidentId },
    reason: 'The cause is known, and the fix is being rolled out.',
    evidence: ['release 2.4.1 at 03:02', 'errors since 03:04, none before'],
  },
  async handle({ incidentId, action, input, reason, evidence, minutes }, context) {
    const incident = await lockIncident(incidentId, context);
    if (Buffer.byteLength(JSON.stringify(input)) > INPUT_BYTES_MAX) {
      throw invalidInput([
        { path: 'input', message: `is larger than ${INPUT_BYTES_MAX} bytes, too long for a person to review` },
      ]);
    }
    const { effect } = checked(context, action, input);
    if (effect === 'read') {
      throw invalidInput([
        { path: 'action', message: `${action} changes nothing: call it yourself at the MCP endpoint` },
      ]);
    }
    return await propose(context, incident, {
      kind: 'action',
      action,
      input,
      sentence: reason.trim(),
      evidence,
      minutes,
      userId: null,
    });
  },
});

/** Checks the call, with the paths of faults where the agent wrote them. */
function checked(context: Parameters<typeof proposeAction.handle>[1], action: string, input: unknown) {
  try {
    return context.checkCall(action, input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'unknown_action') throw invalidInput([{ path: 'action', message: error.message }]);
    throw invalidInput(
      error.faults.map(({ path, message }) => ({ path: path === '' ? 'input' : `input.${path}`, message })),
    );
  }
}

export const getProposal = defineOperation({
  name: 'get_proposal',
  isForResponders: true,
  summary: 'Return the state of a proposal or a question: who answered, when, and in which words.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ proposalId: IdText }),
  result: ProposalView,
  async handle({ proposalId }, context) {
    const proposal = await context.stores.proposals.find(context.caller.orgId, proposalId);
    if (proposal === null) throw notFound('proposalId', 'proposal');
    const [view] = await toProposalViews([proposal], context);
    if (view === undefined) throw new Error('a proposal has a view');
    return view;
  },
});

export const askPerson = defineOperation({
  name: 'ask_person',
  isForResponders: true,
  summary:
    'Ask the people whom the incident has paged (or one of them) a question that yes or no answers; they may add words. peopleAsked 0: nobody was paged yet, and they read it in the console.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    question: Sentence,
    userId: Type.Optional(IdText),
    minutes: Type.Optional(ProposalMinutes),
  }),
  result: AskedView,
  conflict: 'the incident is resolved, or as many questions wait as it may have',
  example: { question: 'Was the rollout of 2.4.1 stopped by somebody?' },
  async handle({ incidentId, question, userId, minutes }, context) {
    const incident = await lockIncident(incidentId, context);
    return await propose(context, incident, {
      kind: 'question',
      action: null,
      input: null,
      sentence: question.trim(),
      evidence: [],
      minutes,
      userId: userId === undefined ? null : asId('user', userId),
    });
  },
});

/**
 * Sends a proposal to those whom a page of the incident has reached, where it reached them; returns how many people. An
 * agent wakes nobody whom the escalation has not paged.
 */
async function askPeople(
  { stores, now, enqueue }: UnitOfWork,
  { id: proposalId, orgId, incidentId }: ProposalRow,
  only: Id<'user'> | null,
): Promise<number> {
  const paged = await stores.proposals.listPagedAddresses(incidentId);
  const asked = only === null ? paged : paged.filter(({ userId }) => userId === only);
  const ids = await stores.notifications.insert(
    asked.map(({ userId, channel, address }) => ({
      orgId,
      incidentId,
      stepIndex: null,
      kind: 'update' as const,
      userId,
      channel,
      address,
      news: 'proposed' as const,
      proposalId,
      status: 'queued' as const,
      reason: null,
    })),
    now,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
  return new Set(asked.map(({ userId }) => userId)).size;
}
