import type { IngestStatus } from '#console/api/organization.ts';

type Refusal = IngestStatus['refused'][number];

const COUNT = new Intl.NumberFormat();

/** What is counted are the points or events themselves. */
const ITEM_REASONS: Partial<Record<Refusal['reason'], string>> = {
  too_many_series: 'too many new series in a day',
  faulty: 'faulty, as their sender was told',
  too_large: 'larger than 1 MiB',
};

/** What is counted are requests, refused as a whole. */
const REQUEST_REASONS: Partial<Record<Refusal['reason'], string>> = {
  rate_limited: 'more was sent than the service may send a second',
  invalid_input: 'what they held could not be read',
  payload_too_large: 'too large',
  unsupported_media_type: 'of a type or encoding that is not taken',
  unavailable: 'nothing could be stored at the time',
  internal: 'something went wrong here',
};

/** `1,204 points refused: too many new series in a day`. */
export function refusalText({ kind, reason, count }: Pick<Refusal, 'kind' | 'reason' | 'count'>): string {
  const why = ITEM_REASONS[reason];
  const thing = kind === 'points' ? 'point' : 'event';
  if (why !== undefined) return `${plural(count, thing)} refused: ${why}`;
  return `${plural(count, 'request')} with ${thing}s refused: ${REQUEST_REASONS[reason] ?? reason}`;
}

function plural(count: number, one: string): string {
  return `${COUNT.format(count)} ${count === 1 ? one : `${one}s`}`;
}
