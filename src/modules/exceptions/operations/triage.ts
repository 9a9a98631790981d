import { type Static, Type } from 'typebox';

import { FRAME_EXAMPLE } from '#modules/exceptions/operations/recent_event.ts';
import { LevelName, GROUP_EXAMPLE } from '#modules/exceptions/operations/view.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { culpritOf } from '#modules/exceptions/decide/frames.ts';
import type { GroupTotals, ValueCount } from '#modules/exceptions/decide/group_counts.ts';
import { type Repository, sourceLink } from '#modules/exceptions/decide/source_link.ts';
import { trendOf } from '#modules/exceptions/decide/triage.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { isAtOrBefore, toTimestamp } from '#kernel/time.ts';
import type { WeekCounts } from '#modules/exceptions/store/exception_reader.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';

const ValueCountView = Type.Object({ value: Type.String(), count: Type.Integer() });

const CulpritView = Type.Object({
  label: Type.String(),
  function: nullable(Type.String()),
  module: nullable(Type.String()),
  file: nullable(Type.String()),
  line: nullable(Type.Integer()),
  inApp: Type.Boolean({ description: 'whether it is code of the application itself' }),
  sourceUrl: nullable(Type.String({ description: "the line in the linked repository, at the event's release" })),
});

export const TriageView = Type.Object({
  severity: LevelName,
  culprit: nullable(CulpritView),
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
  eventCount: Type.Integer(),
  userCount: Type.Integer(),
  environments: Type.Array(ValueCountView, { description: 'most frequent first' }),
  releases: Type.Object({ first: nullable(Type.String()), last: nullable(Type.String()) }),
  isHandled: nullable(Type.Boolean({ description: 'false when any event was caught by nothing in the application' })),
  isNew: Type.Boolean({ description: 'first seen within the last 24 hours' }),
  isRegression: Type.Boolean({ description: 'reopened by an event after it was resolved' }),
  trend: nullable(
    Type.Object(
      {
        direction: Type.Enum(['new', 'rising', 'steady', 'falling', 'quiet']),
        changePercent: nullable(Type.Integer()),
        last7Days: Type.Integer(),
        previous7Days: Type.Integer(),
      },
      { description: 'null where less than 14 days are kept' },
    ),
  ),
  topTags: Type.Array(Type.Object({ key: Type.String(), values: Type.Array(ValueCountView) }), {
    description: 'counted over the newest 1,000 events',
  }),
  openIncidentId: nullable(IdText),
  grouping: Type.Object(
    {
      version: Type.Integer(),
      parts: Type.Array(
        Type.Object({
          strategy: Type.Enum(['fingerprint', 'exception', 'thread', 'stacktrace', 'message']),
          because: Type.String(),
          lines: Type.Array(Type.String()),
        }),
      ),
    },
    { description: 'why these events are one group' },
  ),
});

export const TRIAGE_EXAMPLE: Static<typeof TriageView> = {
  severity: 'error',
  culprit: {
    label: 'pay in src/payment.ts',
    function: FRAME_EXAMPLE.function,
    module: null,
    file: FRAME_EXAMPLE.file,
    line: FRAME_EXAMPLE.line,
    inApp: true,
    sourceUrl: FRAME_EXAMPLE.sourceUrl,
  },
  firstSeenAt: GROUP_EXAMPLE.firstSeenAt,
  lastSeenAt: GROUP_EXAMPLE.lastSeenAt,
  eventCount: GROUP_EXAMPLE.eventCount,
  userCount: GROUP_EXAMPLE.userCount,
  environments: [{ value: 'production', count: GROUP_EXAMPLE.eventCount }],
  releases: { first: '2027.5.0', last: '2027.5.1' },
  isHandled: false,
  isNew: true,
  isRegression: false,
  trend: { direction: 'new', changePercent: null, last7Days: GROUP_EXAMPLE.eventCount, previous7Days: 0 },
  topTags: [{ key: 'runtime', values: [{ value: 'node v24.1.0', count: GROUP_EXAMPLE.eventCount }] }],
  openIncidentId: null,
  grouping: {
    version: 2,
    parts: [{ strategy: 'exception', because: 'the stack of the exception', lines: ['payment.ts pay'] }],
  },
};

export interface TriageFacts {
  readonly group: ExceptionGroupRow;
  readonly totals: GroupTotals;
  readonly weeks: WeekCounts;
  readonly tags: ReadonlyMap<string, readonly ValueCount[]>;
  readonly newest: ExceptionEvent | undefined;
  readonly repository: Repository | null;
  readonly openIncidentId: Id<'incident'> | null;
  readonly now: Temporal.Instant;
}

const ENVIRONMENTS_MAX = 10;
const NEW_HOURS = 24;
const TREND_DAYS = 14;

export function toTriageView(facts: TriageFacts): Static<typeof TriageView> {
  const { group, totals, now } = facts;
  return {
    severity: group.level,
    culprit: toCulpritView(facts.newest, facts.repository),
    firstSeenAt: toTimestamp(group.firstSeenAt),
    lastSeenAt: toTimestamp(group.lastSeenAt),
    eventCount: totals.events,
    userCount: totals.users,
    environments: totals.environments.slice(0, ENVIRONMENTS_MAX),
    releases: { first: group.firstRelease, last: group.lastRelease },
    isHandled: totals.isHandled,
    isNew: isAtOrBefore(now.subtract({ hours: NEW_HOURS }), group.firstSeenAt),
    isRegression: group.regressedAt !== null,
    trend: group.retentionDays < TREND_DAYS ? null : toTrendView(facts.weeks),
    topTags: [...facts.tags].map(([key, values]) => ({ key, values: [...values] })),
    openIncidentId: facts.openIncidentId,
    grouping: {
      version: group.groupingVersion,
      parts: group.groupingParts.map((part) => ({ ...part, lines: [...part.lines] })),
    },
  };
}

function toTrendView({ thisWeek, weekBefore }: WeekCounts) {
  return { ...trendOf(thisWeek, weekBefore), last7Days: thisWeek, previous7Days: weekBefore };
}

/** Returns the culprit of the newest event, whose release is the one that runs now. */
function toCulpritView(
  event: ExceptionEvent | undefined,
  repository: Repository | null,
): Static<typeof CulpritView> | null {
  const culprit = event === undefined ? null : culpritOf(event);
  if (event === undefined || culprit === null) return null;
  const { label, inApp, frame } = culprit;
  return {
    label,
    function: frame.function,
    module: frame.module,
    file: frame.filename ?? frame.absPath,
    line: frame.lineno,
    inApp,
    sourceUrl: repository === null || !inApp ? null : sourceLink(frame, repository, event.release),
  };
}
