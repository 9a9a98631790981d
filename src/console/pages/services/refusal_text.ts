import type { IngestStatus } from '#console/api/organization.ts';

type Refusal = IngestStatus['refused'][number];

const COUNT = new Intl.NumberFormat();

/** Reasons that count single points or events. */
const ITEM_REASONS: Partial<Record<Refusal['reason'], string>> = {
  too_many_series: 'too many new series in a day',
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
