import { p } from '@mikro-orm/postgresql';

import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { ProposalKind, ProposalStatus } from '#modules/agents/decide/proposal.ts';
import { bigint, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

/** Decisions of an organization about its agents; one without a row has the defaults. */
export const AgentSettingsEntity = table('agent_settings', {
  orgId: id<'org'>().primary(),
  areStopped: p.boolean().default(false),
  writesAnHour: p.integer().strictNullable(),
  holdMinutes: p.integer().default(0),
});

/** A connected app, or an API key, that an owner lets respond. It ends with the connection. */
export const ResponderEntity = table('responders', {
  /** The id of the connection or of the key. */
  agentId: p.text().primary(),
  orgId: id<'org'>(),
  connectionId: id<'connection'>().strictNullable(),
  apiKeyId: id<'apikey'>().strictNullable(),
  enabledBy: id<'user'>(),
  enabledAt: instant(),
});

/** One change by an agent that counts in its cap; gone after an hour. */
export const AgentWriteEntity = table('agent_writes', { agentId: p.text().primary(), at: instant().primary() });

/** The last lease on an incident. */
export const IncidentLeaseEntity = table('incident_leases', {
  incidentId: id<'incident'>().primary(),
  orgId: id<'org'>(),
  agentId: p.text(),
  agentName: p.text(),
  takenAt: instant(),
  renewedAt: instant(),
  expiresAt: instant(),
  releasedAt: instant().strictNullable(),
});

/** Request of an agent to people: to carry out an action, or to answer a question. */
export const ProposalEntity = table('proposals', {
  id: id<'proposal'>().primary(),
  orgId: id<'org'>(),
  incidentId: id<'incident'>(),
  /** Number that a person types in a reply; each organization counts its own. */
  number: bigint(),
  kind: text<ProposalKind>(),
  agentId: p.text(),
  agentName: p.text(),
  /** Null for a question. */
  action: p.text().strictNullable(),
  input: jsonColumn<Record<string, unknown>>().strictNullable(),
  /** The reason, or the question. */
  sentence: p.text(),
  evidence: jsonColumn<readonly string[]>(),
  status: text<ProposalStatus>().default('proposed'),
  createdAt: instant(),
  expiresAt: instant(),
  decidedAt: instant().strictNullable(),
  decidedBy: jsonColumn<IncidentActor>().strictNullable(),
  /** Words that the person added. */
  answer: p.text().strictNullable(),
});
