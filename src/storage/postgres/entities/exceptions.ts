import { defineEntity, p } from '@mikro-orm/postgresql';

import type { DayCounts, ReleaseCount, ValueCount } from '#modules/exceptions/decide/group_counts.ts';
import type { Fix } from '#modules/exceptions/decide/fix.ts';
import type { GroupingPart } from '#modules/exceptions/decide/grouping.ts';
import type { InboundFilter } from '#modules/exceptions/decide/inbound_filters.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import { bigint, bytes, id, instant, jsonColumn, text } from '#storage/postgres/entities/column_types.ts';

export const ExceptionGroupEntity = defineEntity({
  name: 'ExceptionGroup',
  tableName: 'exception_groups',
  properties: {
    id: id<'group'>().primary(),
    orgId: id<'org'>(),
    serviceId: id<'service'>(),
    /** Hash of what its events have in common. */
    key: p.text(),
    groupingVersion: p.integer(),
    groupingParts: jsonColumn<readonly GroupingPart[]>(),
    title: p.text(),
    type: p.text().strictNullable(),
    culprit: p.text().strictNullable(),
    pattern: p.text().strictNullable(),
    level: text<Level>(),
    status: text<GroupStatus>().default('unresolved'),
    statusChangedAt: instant(),
    resolvedInRelease: p.text().strictNullable(),
    regressedAt: instant().strictNullable(),
    firstSeenAt: instant(),
    lastSeenAt: instant(),
    firstRelease: p.text().strictNullable(),
    lastRelease: p.text().strictNullable(),
    createdAt: instant(),
    /** Time of the last change of status, title or level, not of the last event. */
    updatedAt: instant(),
    /** The group that takes its events, since then; null for one of its own. */
    mergedIntoId: id<'group'>().strictNullable(),
    mergedAt: instant().strictNullable(),
  },
});

/** A further key of a group: a later version of the grouping knows its events by it. */
export const ExceptionGroupKeyEntity = defineEntity({
  name: 'ExceptionGroupKey',
  tableName: 'exception_group_keys',
  properties: {
    serviceId: id<'service'>().primary(),
    key: p.text().primary(),
    groupId: id<'group'>(),
    createdAt: instant(),
  },
});

/** Common parts of the messages of a service; see modules/exceptions/decide/message_templates.ts. */
export const MessageTemplateEntity = defineEntity({
  name: 'MessageTemplate',
  tableName: 'message_templates',
  properties: {
    serviceId: id<'service'>().primary(),
    key: p.text().primary(),
    bucket: p.text(),
    tokens: jsonColumn<readonly string[]>(),
    isPinned: p.boolean().default(false),
    /** Number in the order in which templates were learnt. */
    number: bigint().autoincrement(),
    createdAt: instant(),
  },
});

/** State that the last decision of a person about a group has replaced. */
export const GroupDecisionEntity = defineEntity({
  name: 'GroupDecision',
  tableName: 'group_decisions',
  properties: {
    groupId: id<'group'>().primary(),
    decidedAt: instant(),
    status: text<GroupStatus>(),
    statusChangedAt: instant(),
    resolvedInRelease: p.text().strictNullable(),
    regressedAt: instant().strictNullable(),
  },
});

/** Release in which people say that a group is fixed; it counts as long as the group's status is of that decision. */
export const GroupFixEntity = defineEntity({
  name: 'GroupFix',
  tableName: 'group_fixes',
  properties: {
    groupId: id<'group'>().primary(),
    decidedAt: instant().primary(),
    kind: text<Fix['kind']>(),
    release: p.text(),
    knownReleases: jsonColumn<readonly string[]>(),
  },
});

/** A release in which a group came back after it was resolved, and when it last did. */
export const GroupRegressionEntity = defineEntity({
  name: 'GroupRegression',
  tableName: 'group_regressions',
  properties: {
    groupId: id<'group'>().primary(),
    release: p.text().primary(),
    serviceId: id<'service'>(),
    at: instant(),
  },
});

/** Counts over the events of a group. Only counting writes them, so it holds up nobody who writes groups. */
export const ExceptionGroupCountsEntity = defineEntity({
  name: 'ExceptionGroupCounts',
  tableName: 'exception_group_counts',
  properties: {
    groupId: id<'group'>().primary(),
    events: bigint().default(0),
    users: bigint().default(0),
    isHandled: p.boolean().strictNullable(),
    days: jsonColumn<DayCounts>(),
    environments: jsonColumn<readonly ValueCount[]>(),
    releases: jsonColumn<readonly ReleaseCount[]>(),
    releasesTotal: bigint().default(0),
    /** Null until it was counted for the first time. */
    countedAt: instant().strictNullable(),
    /** Time of the next count; null when nothing will change. */
    dueAt: instant().strictNullable(),
    /** Time before which it is not counted, although events keep coming. */
    restsUntil: instant().strictNullable(),
  },
});

/** Events that took too long to read, twice. They are tried again hours later. */
export const SetAsideEventsEntity = defineEntity({
  name: 'SetAsideEvents',
  tableName: 'set_aside_events',
  properties: {
    id: p.text().primary(),
    serviceId: id<'service'>(),
    events: p.integer(),
    payload: bytes(),
    tries: p.integer().default(1),
    setAsideAt: instant(),
    dueAt: instant(),
  },
});

/** Exceptions that a service leaves out on purpose. A service without a row leaves out nothing. */
export const ExceptionSettingsEntity = defineEntity({
  name: 'ExceptionSettings',
  tableName: 'exception_settings',
  properties: {
    serviceId: id<'service'>().primary(),
    filters: jsonColumn<readonly InboundFilter[]>(),
    /** Texts with `*`; an event whose type and message match one is left out. */
    patterns: jsonColumn<readonly string[]>(),
    /** Names of fields whose values are left out, besides those that every service leaves out. */
    secretNames: jsonColumn<readonly string[]>(),
    /** Beyond it, events of groups that are known are not stored; null for no limit. */
    eventsPerHour: bigint().strictNullable(),
    /** Whether a limit follows from its usual traffic; what it is, null while too little is known, and as of when. */
    learnsSpikes: p.boolean().default(false),
    learntPerHour: bigint().strictNullable(),
    learntAt: instant().strictNullable(),
    updatedAt: instant(),
  },
});

/** Number of events of a service within the running hour; only of services with a limit. */
export const ExceptionHourEntity = defineEntity({
  name: 'ExceptionHour',
  tableName: 'exception_hours',
  properties: {
    serviceId: id<'service'>().primary(),
    hour: instant(),
    count: bigint(),
  },
});
