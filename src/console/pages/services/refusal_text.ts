import type { IngestStatus } from '#console/api/organization.ts';
import { wholeNumberText } from '#console/components/text/time_text.ts';

type Refusal = IngestStatus['refused'][number];

/** Reasons that count single points or events. */
const ITEM_REASONS: Partial<Record<Refusal['reason'], string>> = {
  too_many_series: 'too many new series in a day',
  time_ahead: 'their time is more than 10 minutes ahead; set the clock of the sender',
  time_too_old: 'older than the retention of the service',
  not_finite: 'the value is infinite, or no number',
  bad_time: 'the time cannot be read, or is not in milliseconds',
  no_value: 'they have no value that is a number',
  no_name: 'the metric, or a label, has no name',
  bad_text: 'a label comes twice or is no text, or a text is not UTF-8',
  text_too_long: 'a name or label has more than 512 bytes',
  too_many_labels: 'more than 64 labels',
  no_temporality: 'a sum or histogram does not say since when it counts (aggregation temporality)',
  bad_histogram: 'the histogram or summary cannot be read',
  too_many_points: 'more than 100,000 in one request',
  no_metric: 'events and checks of DogStatsD are not kept',
  no_room: 'more series or values than may be gathered of StatsD at once',
  faulty: 'invalid (the sender got an error)',
  too_large: 'larger than 1 MiB',
};

/** Reasons that count whole requests. */
const REQUEST_REASONS: Partial<Record<Refusal['reason'], string>> = {
  rate_limited: 'over the rate limit of the service',
  invalid_input: 'the body could not be read',
  payload_too_large: 'too large',
  unsupported_media_type: 'unsupported content type or encoding',
  unavailable: 'the storage was not available',
  internal: 'internal error',
  not_found: 'sent to an address that takes nothing, such as those for logs and traces; the sender got the right one',
};

/** Returns a refusal as text: `1,204 points refused: too many new series in a day`. */
export function refusalText({ kind, reason, count }: Pick<Refusal, 'kind' | 'reason' | 'count'>): string {
  const why = ITEM_REASONS[reason];
  const thing = { points: 'point', events: 'event', alerts: 'alert' }[kind];
  if (why !== undefined) return `${plural(count, thing)} refused: ${why}`;
  const what = reason === 'not_found' ? '' : ` with ${thing}s`;
  return `${plural(count, 'request')}${what} refused: ${REQUEST_REASONS[reason] ?? reason}`;
}

function plural(count: number, singular: string): string {
  return `${wholeNumberText(count)} ${count === 1 ? singular : `${singular}s`}`;
}

type Limited = Pick<IngestStatus['limited'][number], 'limit' | 'count'>;

/** Titles and advice for limits that affected stored data. */
export const LIMITED_TEXTS: Readonly<
  Record<Limited['limit'], { readonly title: (count: number) => string; readonly advice: string }>
> = {
  too_many_new_groups: {
    title: (count) => `${plural(count, 'event')} went to the group for too many new ones`,
    advice: 'Nothing was lost.',
  },
  too_many_incidents: {
    title: (count) => `${plural(count, 'cause')} share an incident, as there were too many`,
    advice: 'Nothing was lost.',
  },
  shared_series: {
    title: () => 'Several streams share a series',
    advice:
      'Of points of one time only the last is stored. Give each stream an attribute that distinguishes it, such as service.instance.id.',
  },
  overlapping_writers: {
    title: () => 'Two writers count in one counter',
    advice:
      'Each is counted from its own start. Give each process an attribute that distinguishes it, such as service.instance.id.',
  },
};

type NotKept = Pick<IngestStatus['notKept'][number], 'kind' | 'reason' | 'count'>;

/** Reasons why an item other than an exception was not kept, or why an exception was left out on purpose. */
const NOT_KEPT_REASONS: Readonly<Record<string, string>> = {
  not_kept: 'not kept: only exceptions are',
  over_quota:
    'not kept: the service has as much as it may have, 256 MB of files or 10,000 feedbacks, or the event has 20 files',
  rate_limited: 'refused: more a second than the service may send',
  not_enabled: 'not kept: the service does not have the capability metrics',
  too_large: 'not kept: larger than 2 MiB',
  too_many: 'not kept: too many at once',
  malformed: 'not kept: it cannot be read, or names nothing',
  'filter:bots': 'left out: sent by a robot',
  'filter:browser_extensions': 'left out: raised by a browser extension',
  'filter:legacy_browsers': 'left out: from a browser that is too old',
  'filter:pattern': 'left out: matches a pattern of the service',
  bad_schedule: 'taken without their schedule, which cannot be read',
  too_many_monitors: 'refused: the service has all the cron monitors it may have',
  too_many_new_monitors: 'refused: more than 10 new cron monitors within an hour by the DSN',
  key_only: 'refused: the cron monitor, or the metric, is one that comes by the ingestion key',
  too_many_waiting: 'refused: too many of this service wait',
  too_many_running: 'not kept: 50 runs of this monitor have not ended',
  spike: 'not kept: over the limit per hour, all of exceptions that are known already',
  unavailable: 'not kept: the database was not available',
};

/** Returns what was not kept as text: `1,204 transactions not kept: only exceptions are`. */
export function notKeptText({ kind, reason, count }: NotKept): string {
  const things = plural(count, kind === 'other' ? 'other item' : kind);
  if (reason.startsWith('client:')) {
    return `${things} not sent by the client (${reason.slice('client:'.length).replaceAll('_', ' ')})`;
  }
  return `${things} ${NOT_KEPT_REASONS[reason] ?? reason}`;
}
