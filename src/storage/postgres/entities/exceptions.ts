import { p } from '@mikro-orm/postgresql';

import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import type { DayCounts, ReleaseCount, ValueCount } from '#modules/exceptions/decide/group_counts.ts';
import type { Fix } from '#modules/exceptions/decide/fix.ts';
import type { GroupingPart } from '#modules/exceptions/decide/grouping.ts';
import type { InboundFilter } from '#modules/exceptions/decide/inbound_filters.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import type { ActivityFacts } from '#modules/exceptions/decide/activity.ts';
import type { TrackerKind } from '#modules/exceptions/decide/issue_tracker.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const ExceptionGroupEntity = table('exception_groups', {
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
  /** The person or the team that works on it; at most one of the two. */
  assignedUserId: id<'user'>().strictNullable(),
  assignedTeamId: id<'team'>().strictNullable(),
  /** Address of its issue in a tracker. */
  issueUrl: p.text().strictNullable(),
});

/** A further key of a group: a later version of the grouping knows its events by it. */
export const ExceptionGroupKeyEntity = table('exception_group_keys', {
  serviceId: id<'service'>().primary(),
  key: p.text().primary(),
  groupId: id<'group'>(),
  createdAt: instant(),
});

/** Common parts of the messages of a service; see modules/exceptions/decide/message_templates.ts. */
export const MessageTemplateEntity = table('message_templates', {
  serviceId: id<'service'>().primary(),
  key: p.text().primary(),
  bucket: p.text(),
  tokens: jsonColumn<readonly string[]>(),
  isPinned: p.boolean().default(false),
  /** Number in the order in which templates were learnt. */
  number: bigint().autoincrement(),
  createdAt: instant(),
});

/** State that the last decision of a person about a group has replaced. */
export const GroupDecisionEntity = table('group_decisions', {
  groupId: id<'group'>().primary(),
  decidedAt: instant(),
  status: text<GroupStatus>(),
  statusChangedAt: instant(),
  resolvedInRelease: p.text().strictNullable(),
  regressedAt: instant().strictNullable(),
});

/** Release in which people say that a group is fixed; it counts as long as the group's status is of that decision. */
export const GroupFixEntity = table('group_fixes', {
  groupId: id<'group'>().primary(),
  decidedAt: instant().primary(),
  kind: text<Fix['kind']>(),
  release: p.text(),
  knownReleases: jsonColumn<readonly string[]>(),
});

/** End of the snooze that a decision began; it counts as long as the group's status is of that decision. */
export const GroupSnoozeEntity = table('group_snoozes', {
  groupId: id<'group'>().primary(),
  decidedAt: instant().primary(),
  until: instant().strictNullable(),
  /** Number of further events, and of users that they concern, after which it reopens; null for no such limit. */
  events: bigint().strictNullable(),
  users: bigint().strictNullable(),
  /** Person who snoozed it and is told when it reopens; null for a program. */
  userId: id<'user'>().strictNullable(),
  /** Time when its events were last counted. */
  checkedAt: instant().strictNullable(),
});

/** A comment on a group, or something that people, rules or events did to it. */
export const GroupActivityEntity = table('group_activity', {
  id: id<'activity'>().primary(),
  orgId: id<'org'>(),
  groupId: id<'group'>(),
  at: instant(),
  actor: jsonColumn<IncidentActor>(),
  facts: jsonColumn<ActivityFacts>(),
  /** Text of a comment, its author, and the request that wrote it; null for everything else. */
  body: p.text().strictNullable(),
  userId: id<'user'>().strictNullable(),
  requestKey: p.text().strictNullable(),
  editedAt: instant().strictNullable(),
});

/** A person who is told once when a group comes back. */
export const GroupWatcherEntity = table('group_watchers', {
  groupId: id<'group'>().primary(),
  userId: id<'user'>().primary(),
  createdAt: instant(),
});

/** A filter of the list of exceptions that a person keeps, for themselves or for the organization. */
export const SavedSearchEntity = table('saved_searches', {
  id: id<'search'>().primary(),
  orgId: id<'org'>(),
  /** Null for a shared search of somebody who has left. */
  userId: id<'user'>().strictNullable(),
  name: p.text(),
  search: jsonColumn<Readonly<Record<string, string>>>(),
  isShared: p.boolean(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A release in which a group came back after it was resolved, and when it last did. */
export const GroupRegressionEntity = table('group_regressions', {
  groupId: id<'group'>().primary(),
  release: p.text().primary(),
  serviceId: id<'service'>(),
  at: instant(),
});

/** Counts over the events of a group. Only counting writes them, so it holds up nobody who writes groups. */
export const ExceptionGroupCountsEntity = table('exception_group_counts', {
  groupId: id<'group'>().primary(),
  /** Organization whose turn it is to be counted; empty where a release wrote that had no turns. */
  orgId: p.text().default(''),
  serviceId: p.text().default(''),
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
});

/** Events that took too long to read, twice. They are tried again hours later. */
export const QuarantinedEventsEntity = table('quarantined_events', {
  id: p.text().primary(),
  serviceId: id<'service'>(),
  events: p.integer(),
  payload: bytes(),
  tries: p.integer().default(1),
  quarantinedAt: instant(),
  dueAt: instant(),
});

/** Exceptions that a service leaves out on purpose. A service without a row leaves out nothing. */
export const ExceptionSettingsEntity = table('exception_settings', {
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
  /** Rules that assign new groups; the first rule that matches decides. */
  assignmentRules: jsonColumn<readonly AssignmentRule[]>(),
  /** Address of the form for a new issue, with placeholders for the group's title and address. */
  issueLink: p.text().strictNullable(),
  /** Tracker for its issues, and the project there; null for the first of the organization, and for its own project. */
  trackerId: id<'tracker'>().strictNullable(),
  trackerProject: p.text().strictNullable(),
  updatedAt: instant(),
});

/** An issue tracker of an organization, in which people create issues about exceptions. */
export const IssueTrackerEntity = table('issue_trackers', {
  id: id<'tracker'>().primary(),
  orgId: id<'org'>(),
  kind: text<TrackerKind>(),
  address: p.text(),
  account: p.text().strictNullable(),
  project: p.text(),
  issueType: p.text().strictNullable(),
  /** Token, encrypted. */
  sealed: bytes(),
  createdAt: instant(),
});

/** The issue of a group that was created in a tracker, or is being created until then. */
export const GroupIssueEntity = table('group_issues', {
  groupId: id<'group'>().primary(),
  /** Null once the tracker was deleted. */
  trackerId: id<'tracker'>().strictNullable(),
  project: p.text(),
  /** Null while it is being created. */
  number: p.text().strictNullable(),
  claimedUntil: instant(),
  /** State in the words of the tracker, as it told it last; null if it never has. */
  state: p.text().strictNullable(),
  isDone: p.boolean().default(false),
  stateAt: instant().strictNullable(),
  /** Time at which the tracker was asked last, whether it has answered or not. */
  askedAt: instant().strictNullable(),
});

/** Number of events of a service within the running hour; only of services with a limit. */
export const ExceptionHourEntity = table('exception_hours', {
  serviceId: id<'service'>().primary(),
  hour: instant(),
  count: bigint(),
});
