import { p } from '@mikro-orm/postgresql';

import type { Recurrence } from '#modules/maintenance/decide/maintenance.ts';
import type { RuleConfig, RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { RotationType } from '#modules/schedules/decide/rotation.ts';
import type { Id } from '#kernel/ids.ts';
import type { StoredLayer } from '#modules/schedules/decide/stored_layers.ts';
import type { LastTurn } from '#modules/policies/decide/audience.ts';
import type { PolicyDetails } from '#modules/policies/decide/policy_details.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const TeamEntity = table('teams', {
  id: id<'team'>().primary(),
  orgId: id<'org'>(),
  name: p.text(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const TeamMemberEntity = table('team_members', {
  id: id<'member'>().primary(),
  orgId: id<'org'>(),
  teamId: id<'team'>(),
  userId: id<'user'>(),
  phone: p.text().strictNullable(),
  smsEnabled: p.boolean(),
  callEnabled: p.boolean(),
  pushEnabled: p.boolean(),
  emailEnabled: p.boolean(),
  sortOrder: bigint(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** Configuration as it was given: an absent `shiftHours` stays absent. */
export interface RotationConfig {
  readonly userIds: readonly Id<'user'>[];
  readonly shiftHours?: number;
}

export const ScheduleEntity = table('schedules', {
  id: id<'schedule'>().primary(),
  orgId: id<'org'>(),
  teamId: id<'team'>(),
  name: p.text(),
  timezone: p.text(),
  rotationType: text<RotationType>(),
  rotationConfig: jsonColumn<RotationConfig>(),
  startAt: instant(),
  /** The local date and time that the clocks skipped at `startAt`; null: they did not. */
  startWall: p.text().strictNullable(),
  /** Layers, the lowest first, with what the columns above do not say of the first; null: the rotation is all. */
  layers: jsonColumn<readonly StoredLayer[]>().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** Days of the last good answer of its address, or those that were typed in. */
export const HolidayCalendarEntity = table('holiday_calendars', {
  id: id<'calendar'>().primary(),
  orgId: id<'org'>(),
  name: p.text(),
  /** Null: its dates are typed in. */
  url: p.text().strictNullable(),
  dates: jsonColumn<readonly string[]>(),
  fetchedAt: instant().strictNullable(),
  triedAt: instant().strictNullable(),
  /** Reason why the address could not be read last time; null: it could. */
  fault: p.text().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const ScheduleOverrideEntity = table('schedule_overrides', {
  id: id<'override'>().primary(),
  orgId: id<'org'>(),
  scheduleId: id<'schedule'>(),
  /** Layer for which it counts; null: the whole schedule. */
  layerId: p.text().strictNullable(),
  userId: id<'user'>(),
  startAt: instant(),
  endAt: instant(),
  createdAt: instant(),
});

/** The secret address of a schedule: the hash finds it, the sealed text shows it again. */
export const CalendarFeedEntity = table('calendar_feeds', {
  id: id<'feed'>().primary(),
  orgId: id<'org'>(),
  scheduleId: id<'schedule'>(),
  secretHash: bytes(),
  secretSealed: bytes(),
  createdAt: instant(),
  revokedAt: instant().strictNullable(),
  /** Null if without an owner. It ends with the membership of its user. */
  userId: id<'user'>().strictNullable(),
  /** Hash of everything that decides its events, when it was last read; null: never. */
  madeOf: bytes().strictNullable(),
  /** Time at which that was first so; null: before it was noted. */
  changedAt: instant().strictNullable(),
});

/** The secret address of one person's shifts over all schedules. */
export const OwnCalendarEntity = table('own_calendars', {
  orgId: id<'org'>().primary(),
  userId: id<'user'>().primary(),
  secretHash: bytes(),
  secretSealed: bytes(),
  createdAt: instant(),
  /** Hash of everything that decides its events, when it was last read; null: never. */
  madeOf: bytes().strictNullable(),
  /** Time at which that was first so; null: before it was noted. */
  changedAt: instant().strictNullable(),
});

export const PolicyEntity = table('escalation_policies', {
  id: id<'policy'>().primary(),
  orgId: id<'org'>(),
  teamId: id<'team'>(),
  name: p.text(),
  steps: jsonColumn<readonly EscalationStep[]>(),
  /** Last turn of its round robin, written as steps fire; null before the first. */
  lastTurn: jsonColumn<LastTurn>().strictNullable(),
  /** Fields beyond its steps; null for none. */
  details: jsonColumn<PolicyDetails>().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const AlertRuleEntity = table('alert_rules', {
  id: id<'rule'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  name: p.text(),
  kind: text<RuleKind>(),
  config: jsonColumn<RuleConfig>(),
  escalationPolicyId: id<'policy'>().strictNullable(),
  enabled: p.boolean(),
  /** Settings that the console has set beside the config; null for none. */
  settings: jsonColumn<StoredSettings>().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A time in which incidents page nobody: of a service, a rule or a label. */
export const MaintenanceEntity = table('maintenance_windows', {
  id: id<'maintenance'>().primary(),
  orgId: id<'org'>(),
  name: p.text(),
  serviceId: id<'service'>().strictNullable(),
  ruleId: id<'rule'>().strictNullable(),
  labelName: p.text().strictNullable(),
  labelValue: p.text().strictNullable(),
  startsAt: instant(),
  /** Null for a recurring one without an end. */
  endsAt: instant().strictNullable(),
  recurrence: jsonColumn<Recurrence>().strictNullable(),
  timezone: p.text(),
  createdAt: instant(),
  /** Null while it is as it was created. */
  updatedAt: instant().strictNullable(),
});

/** Memory that evaluations keep of a rule beside its incident; a rule without memory has no row. */
export const RuleMemoryEntity = table('rule_memory', {
  ruleId: id<'rule'>().primary(),
  breachedSince: instant().strictNullable(),
  silentSince: instant().strictNullable(),
  missingSince: instant().strictNullable(),
});

/** The same of a part of a rule by label; see `partOfValue`. */
export const RulePartMemoryEntity = table('rule_part_memory', {
  ruleId: id<'rule'>().primary(),
  part: p.text().primary(),
  breachedSince: instant().strictNullable(),
  silentSince: instant().strictNullable(),
  missingSince: instant().strictNullable(),
});
