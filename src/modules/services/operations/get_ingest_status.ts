import { Type } from 'typebox';

import { defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { findMissingMetrics } from '#modules/rules/missing_metric.ts';
import { METRIC_TYPES, metricTypeOf } from '#modules/metrics/decide/metric_type.ts';
import { SINGLE_VALUE_KINDS } from '#modules/metrics/decide/quantile.ts';
import { ERROR_CODES, type ErrorCode } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import {
  INGESTED,
  type IngestRefusalReason,
  ITEM_REFUSALS,
  type LimitReached,
  LIMITS_REACHED,
} from '#modules/services/decide/ingest_refusal.ts';

const COUNT = Type.Integer({ minimum: 0 });
const SHOW_REFUSALS_HOURS = 24;
const TYPE_CHANGES_MAX = 20;
const WITHOUT_QUANTILES_MAX = 20;

const Refused = Type.Object({
  kind: Type.Enum([...INGESTED]),
  reason: Type.Enum([...ITEM_REFUSALS, ...(Object.keys(ERROR_CODES) as ErrorCode[])], {
    description: `why: single points or events (${ITEM_REFUSALS.join(', ')}), or the error code of requests refused as a whole`,
  }),
  count: Type.Integer({ minimum: 1, description: 'points or events; requests, where those were refused as a whole' }),
  lastAt: Timestamp,
});

const Limited = Type.Object({
  limit: Type.Enum([...LIMITS_REACHED]),
  count: Type.Integer({
    minimum: 1,
    description:
      'events that went to the group for too many new ones; causes that share an incident; metrics whose series several streams share, or in which two writers count',
  }),
  lastAt: Timestamp,
});

const TypeChanged = Type.Object({
  metricName: Type.String(),
  type: Type.Enum([...METRIC_TYPES]),
  before: Type.Enum([...METRIC_TYPES]),
  changes: Type.Integer({ minimum: 1, description: 'how often it changed since it was first heard of' }),
  lastAt: Timestamp,
});

const WithoutQuantiles = Type.Object({
  ruleId: IdText,
  name: Type.String({ description: 'of the rule' }),
  metricName: Type.String(),
  kind: Type.Enum([...SINGLE_VALUE_KINDS]),
});

const IngestStatusView = Type.Object({
  metrics: Type.Object({ lastSeenAt: nullable(Timestamp), pointsLastHour: COUNT }),
  exceptions: Type.Object({ lastSeenAt: nullable(Timestamp), eventsLastHour: COUNT }),
  refused: Type.Array(Refused, {
    description: `what was refused in the last ${SHOW_REFUSALS_HOURS} hours, most frequent first; some seconds late`,
  }),
  limited: Type.Array(Limited, {
    description: `what was stored in the last ${SHOW_REFUSALS_HOURS} hours though a limit was met, or though senders share series`,
  }),
  typeChanges: Type.Object(
    { count: COUNT, metrics: Type.Array(TypeChanged, { description: `the latest ${TYPE_CHANGES_MAX}` }) },
    {
      description: `metrics of which senders have said another type in the last ${SHOW_REFUSALS_HOURS} hours: nothing was lost, but sums may mean something else`,
    },
  ),
  withoutQuantiles: Type.Object(
    { count: COUNT, rules: Type.Array(WithoutQuantiles, { description: `the first ${WITHOUT_QUANTILES_MAX}` }) },
    { description: 'rules that ask for a quantile of a gauge or a counter, which have none: they cannot fire' },
  ),
  notKept: Type.Array(
    Type.Object({
      kind: Type.String({ description: 'such as `transaction`, `replay`, `profile`, `log`' }),
      reason: Type.String({ description: '`not_kept`, or `client:…` as the client says why it sent nothing' }),
      count: Type.Integer({ minimum: 1 }),
      lastAt: Timestamp,
    }),
    { description: `what came besides exceptions and is not kept, in the last ${SHOW_REFUSALS_HOURS} hours` },
  ),
  feedback: Type.Object(
    { count: COUNT, lastAt: nullable(Timestamp) },
    { description: 'what users wrote, as far as it is kept: list_feedback lists it' },
  ),
  quarantinedEvents: Type.Object(
    { events: COUNT, since: nullable(Timestamp), nextTryAt: nullable(Timestamp) },
    { description: 'events that took too long to read: they wait where they hold up nothing, and are tried again' },
  ),
  quarantinedJobs: Type.Object(
    { items: COUNT, since: nullable(Timestamp), nextTryAt: nullable(Timestamp) },
    { description: 'points and events that were with a worker each time it died; they are tried again' },
  ),
});

export const getIngestStatus = defineOperation({
  name: 'get_ingest_status',
  summary: 'Show which data of a service was stored recently, and what was refused.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: IngestStatusView,
  async handle({ serviceId }, context) {
    const { caller, stores, now, metrics, exceptions } = context;
    const service = await stores.services.get(caller.orgId, serviceId);
    const since = now.subtract({ hours: 1 });
    const shownSince = now.subtract({ hours: SHOW_REFUSALS_HOURS });
    const noted = await stores.ingestRefusals.listSince(service.id, shownSince);
    const { changed, total } = await stores.metricTypes.listChanged(service.id, shownSince, TYPE_CHANGES_MAX);
    const notKept = await stores.sentItems.listSince(service.id, shownSince);
    const { feedback, total: feedbackCount } = await stores.eventExtras.listFeedbackOfService(service.id, 1);
    const quarantinedEvents = await stores.quarantinedEvents.summary(service.id);
    const quarantinedJobs = await stores.quarantinedJobs.summary(service.id);
    const points = await metrics.recentActivity(service.id, since);
    const rules = await stores.alertRules.listOfService(service.orgId, service.id, LIST_LIMIT);
    const missing = await findMissingMetrics(context, service, rules);
    const withoutQuantiles = rules.flatMap(({ id, name }) => {
      const quantiles = missing.get(id)?.noQuantiles ?? null;
      return quantiles === null ? [] : [{ ruleId: id, name, ...quantiles }];
    });
    return {
      metrics: { lastSeenAt: toTimestampOrNull(points.lastAt), pointsLastHour: points.count },
      exceptions: {
        lastSeenAt: toTimestampOrNull(await stores.exceptionGroups.lastSeenAt(service.id)),
        eventsLastHour: await exceptions.countOfService(service.id, since),
      },
      refused: noted.flatMap(({ kind, reason, count, lastAt }) =>
        isLimit(reason) ? [] : [{ kind, reason, count, lastAt: toTimestamp(lastAt) }],
      ),
      limited: noted.flatMap(({ reason, count, lastAt }) =>
        isLimit(reason) ? [{ limit: reason, count, lastAt: toTimestamp(lastAt) }] : [],
      ),
      typeChanges: {
        count: total,
        metrics: changed.map(({ name, type, before, changes, changedAt }) => ({
          metricName: name,
          type: metricTypeOf(type),
          before: metricTypeOf(before),
          changes,
          lastAt: toTimestamp(changedAt),
        })),
      },
      withoutQuantiles: { count: withoutQuantiles.length, rules: withoutQuantiles.slice(0, WITHOUT_QUANTILES_MAX) },
      notKept: notKept.map(({ lastAt, ...counted }) => ({ ...counted, lastAt: toTimestamp(lastAt) })),
      feedback: { count: feedbackCount, lastAt: toTimestampOrNull(feedback[0]?.createdAt ?? null) },
      quarantinedEvents: {
        events: quarantinedEvents.events,
        since: toTimestampOrNull(quarantinedEvents.since),
        nextTryAt: toTimestampOrNull(quarantinedEvents.nextTryAt),
      },
      quarantinedJobs: {
        items: quarantinedJobs.items,
        since: toTimestampOrNull(quarantinedJobs.since),
        nextTryAt: toTimestampOrNull(quarantinedJobs.nextTryAt),
      },
    };
  },
});

function isLimit(reason: IngestRefusalReason): reason is LimitReached {
  return (LIMITS_REACHED as readonly string[]).includes(reason);
}
