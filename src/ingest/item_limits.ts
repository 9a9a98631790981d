import type { RateLimiter } from '#ingest/rate_limiter.ts';
import type { BesidesEvents, SentryDelivery } from '#ingest/protocols/sentry.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

/**
 * Kinds of items that clients send, each with its own limit, its noun and the categories by which clients know it. One
 * that is over its limit never keeps another from being accepted, least of all a check-in, which no client sends again. Those
 * with the ingestion key are apart from those with the DSN, which a stranger may send in any number.
 */
const ITEM_KINDS = {
  events: { noun: 'exceptions', categories: 'error;security' },
  checkIns: { noun: 'check-ins', categories: 'monitor' },
  keyCheckIns: { noun: 'check-ins with the ingestion key', categories: 'monitor' },
  sessions: { noun: 'sessions', categories: 'session' },
  feedback: { noun: 'feedback', categories: 'feedback;user_report_v2' },
  attachments: { noun: 'attachments', categories: 'attachment;attachment_item' },
  discarded: { noun: 'client reports', categories: 'internal' },
} as const;

/** Categories of metrics, which are limited like points of any other protocol. */
const METRIC_CATEGORIES = 'metric;trace_metric';

type ItemKind = keyof typeof ITEM_KINDS;
type SentKind = Exclude<ItemKind, 'keyCheckIns'>;
/** Kinds that a request of a client holds. */
const KINDS = Object.keys(ITEM_KINDS).filter((kind) => kind !== 'keyCheckIns') as readonly SentKind[];

export type ItemLimiters = Readonly<Record<ItemKind, RateLimiter>>;

/** Opens one limiter for each kind of item. */
export function openItemLimiters(open: (noun: string) => RateLimiter): ItemLimiters {
  return Object.fromEntries(
    Object.entries(ITEM_KINDS).map(([kind, { noun }]) => [kind, open(noun)]),
  ) as unknown as ItemLimiters;
}

/** A kind whose limit was reached, and what to tell the client. */
interface ReachedLimit {
  readonly kind: ItemKind | 'metrics';
  readonly error: AppError;
}

/** A request without what is over its limit. */
interface AdmittedItems {
  readonly delivery: SentryDelivery;
  readonly reached: ReachedLimit[];
}

/** Spends what the request holds of the limit of each kind, and leaves out the kinds that have reached theirs. */
export async function admitItems(
  limiters: ItemLimiters,
  serviceId: Id<'service'>,
  delivery: SentryDelivery,
): Promise<AdmittedItems> {
  const reached: ReachedLimit[] = [];
  for (const kind of KINDS) {
    const amount = amountOf(kind, delivery);
    const limit = amount === 0 ? null : await findReachedLimit(limiters, kind, serviceId, amount);
    if (limit !== null) reached.push(limit);
  }
  if (reached.length === 0) return { delivery, reached };
  return { delivery: without(delivery, new Set(reached.map(({ kind }) => kind))), reached };
}

/** Spends the amount of the limit of a kind; null if something was left. Without an amount it only looks. */
export async function findReachedLimit(
  limiters: ItemLimiters,
  kind: ItemKind,
  serviceId: Id<'service'>,
  amount = 0,
): Promise<ReachedLimit | null> {
  try {
    await limiters[kind].check(serviceId, amount);
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') return { kind, error };
    throw error;
  }
}

function amountOf(kind: SentKind, { events, besides }: SentryDelivery): number {
  if (kind === 'events') return events.length;
  return kind === 'sessions' ? Math.max(besides.sessions.length, besides.outcomes.length) : besides[kind].length;
}

/** The files of events and of feedback that are left out are left out with them. */
function without(delivery: SentryDelivery, kinds: ReadonlySet<ReachedLimit['kind']>): SentryDelivery {
  const { events, besides, dropped } = delivery;
  const hasLostEvents = kinds.has('events');
  const left: Exclude<keyof BesidesEvents, 'metrics'>[] = KINDS.flatMap((kind) =>
    kind !== 'events' && kinds.has(kind) ? kind : [],
  );
  if (kinds.has('sessions')) left.push('outcomes');
  const hasLostFiles = hasLostEvents || (kinds.has('feedback') && besides.feedback.length > 0 && events.length === 0);
  if (hasLostFiles && !kinds.has('attachments')) left.push('attachments');
  const items = left.flatMap((name) =>
    name === 'outcomes' || besides[name].length === 0
      ? []
      : { type: TYPES[name], reason: 'rate_limited' as const, count: besides[name].length },
  );
  return {
    ...delivery,
    events: hasLostEvents ? [] : events,
    besides: { ...besides, ...Object.fromEntries(left.map((name) => [name, []])) },
    dropped: [...dropped, ...items],
  };
}

const TYPES = {
  checkIns: 'check_in',
  sessions: 'session',
  feedback: 'feedback',
  attachments: 'attachment',
  discarded: 'client_report',
} as const;

/** Returns the rate limit header: each limit with the categories to which it applies. */
export function limitsHeader(reached: readonly ReachedLimit[]): string {
  return reached
    .map(({ kind, error }) => {
      const categories = kind === 'metrics' ? METRIC_CATEGORIES : ITEM_KINDS[kind].categories;
      return `${error.retryAfterSeconds ?? 60}:${categories}:key`;
    })
    .join(', ');
}

/**
 * Categories by which clients limit; those that ignore a limit for all once they know one of a category need the names.
 */
const EVERY_CATEGORY =
  'default;error;security;transaction;span;session;attachment;profile;profile_chunk;replay;monitor;feedback;log_item;metric;trace_metric;metric_bucket;internal';

/** Quiets a client for everything that it sends. */
export function quietHeader(seconds: number, reason = ''): string {
  const end = `organization${reason === '' ? '' : `:${reason}`}`;
  return `${seconds}::${end}, ${seconds}:${EVERY_CATEGORY}:${end}`;
}
