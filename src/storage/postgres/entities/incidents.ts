import { p } from '@mikro-orm/postgresql';

import type { StepState } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentActor, IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { CauseKind, IncidentKind } from '#modules/incidents/decide/incident_limit.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Acknowledgement, Repeats } from '#modules/policies/decide/rounds.ts';
import { bigint, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const IncidentEntity = table('incidents', {
  id: id<'incident'>().primary(),
  /**
   * Number that a person types in a reply. The database assigns it when the transaction that opens the incident
   * commits.
   */
  number: bigint().autoincrement(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  ruleId: id<'rule'>().strictNullable(),
  exceptionGroupId: id<'group'>().strictNullable(),
  escalationPolicyId: id<'policy'>().strictNullable(),
  teamId: id<'team'>().strictNullable(),
  kind: text<IncidentKind>(),
  /** One open incident per key. */
  dedupKey: p.text(),
  title: p.text(),
  severity: p.text(),
  /** Measured values. */
  details: jsonColumn<Record<string, unknown>>(),
  occurrences: bigint().default(1),
  /** The policy as it was at the trigger. */
  steps: jsonColumn<readonly EscalationStep[]>(),
  status: text<IncidentStatus>().default('triggered'),
  triggeredAt: instant(),
  acknowledgedAt: instant().strictNullable(),
  acknowledgedBy: jsonColumn<IncidentActor>().strictNullable(),
  resolvedAt: instant().strictNullable(),
  resolvedBy: jsonColumn<IncidentActor>().strictNullable(),
  /** Time at which a breach was last counted in its occurrences. */
  countedAt: instant(),
  /** Time since which its condition has been false, with data; null while it is true. */
  clearSince: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
  /** Time until which a storm accepts members; null for an incident that is no storm. */
  stormUntil: instant().strictNullable(),
  /** Time until which its pages wait for the end of a maintenance; null if they do not wait. */
  suppressedUntil: instant().strictNullable(),
  /** The incident that pages for this one as well; null when it pages itself. */
  parentId: id<'incident'>().strictNullable(),
  /** The span that opened it; null when nothing was traced. */
  traceparent: p.text().strictNullable(),
  /** Repetition of its steps; null for none. */
  repeats: jsonColumn<Repeats>().strictNullable(),
  /** People who have acknowledged while others still must; null for nobody. */
  acknowledgements: jsonColumn<readonly Acknowledgement[]>().strictNullable(),
  /** Whether it was opened in shadow mode: its steps fire and page nobody. */
  isShadow: p.boolean().default(false),
  /** Person who leads the response; null for nobody. */
  commanderId: id<'user'>().strictNullable(),
});

/** One timer per step: the row is the truth, the job only the alarm clock. */
export const IncidentStepEntity = table('incident_steps', {
  incidentId: id<'incident'>().primary(),
  stepIndex: p.integer().primary(),
  dueAt: instant(),
  state: text<StepState['state']>().default('pending'),
  /** Time at which it fired, was skipped or was cancelled; null while it is pending. */
  settledAt: instant().strictNullable(),
  reason: p.text().strictNullable(),
});

export const IncidentTimelineEntity = table('incident_timeline', {
  id: bigint().primary().autoincrement(),
  incidentId: id<'incident'>(),
  at: instant(),
  event: p.text(),
  data: jsonColumn<Record<string, unknown>>(),
});

/** Members of a storm. */
export const IncidentMemberEntity = table('incident_members', {
  incidentId: id<'incident'>().primary(),
  dedupKey: p.text().primary(),
  serviceId: id<'service'>(),
  kind: text<CauseKind>(),
  ruleId: id<'rule'>().strictNullable(),
  exceptionGroupId: id<'group'>().strictNullable(),
  title: p.text(),
  severity: p.text(),
  occurrences: bigint().default(1),
  joinedAt: instant(),
  countedAt: instant(),
  clearSince: instant().strictNullable(),
  endedAt: instant().strictNullable(),
});

/** Notes that people have written about an incident. */
export const IncidentNoteEntity = table('incident_notes', {
  id: id<'note'>().primary(),
  incidentId: id<'incident'>(),
  userId: id<'user'>(),
  body: p.text(),
  /** The agent that wrote it for this person, or with an API key; null when a person did. */
  agentName: p.text().strictNullable(),
  /** The same for the same request, however often it arrives. */
  requestKey: p.text(),
  createdAt: instant(),
  editedAt: instant().strictNullable(),
});
