import { isUnavailable, messageOf } from '#kernel/errors.ts';
import { isHeldBack, whileMayLeave } from '#kernel/held_request.ts';
import type { Id } from '#kernel/ids.ts';
import type { LatencyHistograms } from '#kernel/latency_histograms.ts';
import type { Log } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import { inSpan } from '#kernel/tracing.ts';
import { type Outcome, recordOutcome } from '#modules/incidents/paging/record_outcome.ts';
import { writeMessage } from '#modules/incidents/paging/write_message.ts';
import { limitMessages } from '#modules/notifications/decide/message_limit.ts';
import { nextRetryDelayMs, UNCONFIRMED } from '#modules/notifications/decide/retry.ts';
import {
  type ClaimedNotification,
  type DeliveryStore,
  UNCERTAIN,
} from '#modules/notifications/store/delivery_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { isAboutAccount } from '#modules/notifications/store/notification_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { ChannelSender, Delivery } from '#notify/channel.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import type { Senders } from '#notify/registry.ts';
import { deliverPage } from '#storage/queue/jobs.ts';

/**
 * Returns the outcome of a message from the result of a provider: a temporary fault is retried for five minutes from
 * the first attempt. A message of unknown fate counts as sent, unconfirmed, after `uncertainAttemptsMax` attempts, but not
 * before a second one of unknown fate unless the channel allows only one. From the first such attempt on the reason says
 * that the fate is unknown, so that each further attempt asks the provider first.
 *
 * @param random from 0 to below 1
 */
export function outcomeOf(
  claimed: Attempt,
  delivery: Delivery,
  { uncertainAttemptsMax, now, random }: { uncertainAttemptsMax: number; now: Temporal.Instant; random: number },
): Outcome {
  switch (delivery.kind) {
    case 'accepted':
      return { status: 'sent', reason: null, providerId: delivery.providerId };
    case 'rejected':
      return { status: 'failed', reason: delivery.reason, providerId: null };
    case 'uncertain':
      return uncertainAttemptsMax === 1 || (claimed.isUncertain && claimed.attempts >= uncertainAttemptsMax)
        ? { status: 'sent', reason: UNCONFIRMED, providerId: null }
        : retryOrFail(claimed, delivery.reason, 0, now, random);
    case 'retry':
      return retryOrFail(claimed, delivery.reason, delivery.afterMs ?? 0, now, random);
  }
}

type Attempt = Pick<ClaimedNotification, 'attempts' | 'releasedAt' | 'createdAt' | 'isUncertain'>;

function retryOrFail(
  { attempts, releasedAt, createdAt, isUncertain }: Attempt,
  reason: string,
  atLeastMs: number,
  now: Temporal.Instant,
  random: number,
): Outcome {
  const elapsedMs = now.epochMilliseconds - (releasedAt ?? createdAt).epochMilliseconds;
  const delayMs = nextRetryDelayMs(attempts, elapsedMs, random, atLeastMs);
  return delayMs === null
    ? { status: 'failed', reason, providerId: null }
    : { status: 'retry', reason: isUncertain ? UNCERTAIN : reason, dueAt: now.add({ milliseconds: delayMs }) };
}

export interface DeliveryRuntime extends UnitOfWorkRuntime {
  readonly senders: Senders;
  readonly log: Log;
  readonly latencies?: LatencyHistograms;
}

/** A process that dies or is frozen holds a message no longer than this; while it is sending, it extends the lease. */
const LEASE_MS = 2_500;
const EXTEND_EVERY_MS = 700;
/** Every provider has answered by then, or is given up. */
const HELD_MS_MAX = 90_000;
/** Attempts up to which a provider that cannot be asked what it took is not sent the message again: some 15 s. */
const ASKING_ATTEMPTS_MAX = 5;
/** Rest of a lease below which nothing is sent. */
const LEFT_MS_MIN = 1_000;
/** A process that is too slow to send within a lease must send at last: better twice than never. */
const HELD_BACK_MAX = 5;

/**
 * Sends one notification, if it is still to be sent. One transaction claims it before the provider is called, another
 * records the outcome. If the process dies in between, the next one asks the provider what became of the message before
 * it sends anything again. Returns when the notification is due if that is still to come.
 */
export async function sendNotification(
  runtime: DeliveryRuntime,
  notificationId: Id<'notification'>,
): Promise<Temporal.Instant | null> {
  const stores = storesOf(runtime.db.session());
  const waiting = await stores.notifications.find(notificationId);
  if (waiting === null) return null;
  const sender = runtime.senders.get(waiting.channel);
  const term = nextTerm(runtime);
  const claimed = await inUnitOfWork(runtime, (unit) => claimNotification(unit, waiting, term.until));
  if (claimed === null) return await stores.deliveries.findQueuedDueAt(notificationId);
  const hasLeft = (await stores.people.findRole(claimed.orgId, claimed.userId)) === null;
  const uncertainAttemptsMax = sender?.uncertainAttemptsMax ?? 1;
  await inSpan(`send ${claimed.channel}`, { kind: 'client', parent: claimed.traceparent }, async (span) => {
    const delivery: Delivery | null = hasLeft
      ? { kind: 'rejected', reason: 'left_organization' }
      : await whileHeld(runtime, claimed, term, async (lease) =>
          sendOnce(runtime, sender, { claimed, lease }, await writeMessage(stores, claimed)),
        );
    if (delivery === null) return;
    span?.set({ ...describe(claimed), 'tocsin.provider_answer': delivery.kind });
    if (delivery.kind === 'accepted' && claimed.kind === 'page') {
      const sinceFired = runtime.clock.now().epochMilliseconds - claimed.createdAt.epochMilliseconds;
      runtime.latencies?.observe('page', sinceFired / 1_000, claimed.channel);
    }
    if (delivery.kind !== 'accepted') span?.set({ 'tocsin.provider_reason': delivery.reason });
    await inUnitOfWork(runtime, async (unit) => {
      const outcome = outcomeOf(claimed, delivery, { uncertainAttemptsMax, now: unit.now, random: Math.random() });
      await recordOutcome(unit, claimed, outcome, { onlyIfHeld: delivery.kind !== 'accepted' });
    });
  });
  return null;
}

/** Returns the attributes of the span; the recipient is not among them. */
function describe({ id, incidentId, attempts, channel }: ClaimedNotification): Record<string, string | number> {
  return {
    'tocsin.notification_id': id,
    'tocsin.channel': channel,
    'tocsin.attempt': attempts,
    ...(incidentId !== null && { 'tocsin.incident_id': incidentId }),
  };
}

interface Lease {
  /** Whether nobody else takes the message over in the next moment. It reads clocks, and asks nobody. */
  covers(): boolean;
  /** Extends the lease; false if another process has taken the message over. */
  extend(): Promise<boolean>;
}

interface Term {
  readonly until: Temporal.Instant;
  /** Time of day when it was asked for: other clocks stand still while a machine is suspended. */
  readonly askedAtMs: number;
}

function nextTerm({ clock }: DeliveryRuntime): Term {
  return { until: clock.now().add({ milliseconds: LEASE_MS }), askedAtMs: Date.now() };
}

function leaseOf(runtime: DeliveryRuntime, claimed: ClaimedNotification, first: Term): Lease {
  const { deliveries } = storesOf(runtime.db.session());
  let term = first;
  return {
    covers: () =>
      runtime.clock.now().epochMilliseconds + LEFT_MS_MIN <= term.until.epochMilliseconds &&
      Date.now() + LEFT_MS_MIN <= term.askedAtMs + LEASE_MS,
    async extend() {
      const next = nextTerm(runtime);
      if (!(await deliveries.extend(claimed, next.until))) return false;
      term = next;
      return true;
    },
  };
}

/** Keeps the message for as long as the work on it takes, which may be long where a provider is slow. */
async function whileHeld<Result>(
  runtime: DeliveryRuntime,
  claimed: ClaimedNotification,
  first: Term,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const lease = leaseOf(runtime, claimed, first);
  const until = performance.now() + HELD_MS_MAX;
  const extend = (): void => {
    if (performance.now() > until) return;
    lease.extend().catch((error: unknown) => {
      runtime.log.warn(
        { notificationId: claimed.id, err: messageOf(error) },
        'failed to extend the lease of a message',
      );
    });
  };
  const extending = setInterval(extend, EXTEND_EVERY_MS);
  try {
    return await work(lease);
  } finally {
    clearInterval(extending);
  }
}

/**
 * Sends the message once; null if another process has taken it over, or its incident was answered since an earlier try.
 * Whether this one still has it is asked of the clocks after the connection to the provider is established, right before the message leaves.
 */
async function sendOnce(
  runtime: DeliveryRuntime,
  sender: ChannelSender | undefined,
  { claimed, lease }: { readonly claimed: ClaimedNotification; readonly lease: Lease },
  outgoing: OutgoingMessage | null,
): Promise<Delivery | null> {
  if (sender === undefined) return { kind: 'rejected', reason: 'channel_not_configured' };
  if (outgoing === null) return { kind: 'rejected', reason: 'service_deleted' };
  const { deliveries } = storesOf(runtime.db.session());
  try {
    if (claimed.isUncertain) {
      const providerId = await findSent(deliveries, sender, claimed, outgoing).catch((error: unknown) => {
        if (isUnavailable(error) || claimed.attempts <= ASKING_ATTEMPTS_MAX) throw error;
        return null;
      });
      if (providerId !== null) return { kind: 'accepted', providerId };
      // It has not been sent, and nobody waits for it.
      if (await deliveries.cancelAnswered(claimed, runtime.clock.now())) return null;
    }
    for (let heldBack = 0; ; heldBack += 1) {
      // The answer to the claim may have come late, over a network that was cut meanwhile.
      while (!lease.covers()) if (!(await lease.extend())) return null;
      const mayLeave = heldBack < HELD_BACK_MAX ? lease.covers : () => true;
      const delivery = await whileMayLeave(mayLeave, () => sender.send(outgoing)).catch((error: unknown) => {
        if (isHeldBack(error)) return null;
        throw error;
      });
      if (delivery !== null) return delivery;
    }
  } catch (error) {
    // Whether it was sent cannot be found out now: the claim stays, so that the next try asks, too.
    if (isUnavailable(error)) throw error;
    runtime.log.warn({ notificationId: claimed.id, err: messageOf(error) }, 'the request to the provider failed');
    return { kind: 'retry', reason: 'provider_unreachable' };
  }
}

/**
 * The provider's id of a message whose earlier try may have got through. What the provider has for this address may
 * belong to other entries of the log: only if there is more than they can account for, one of it is this message. In
 * doubt it is sent again: a page that comes twice is better than one that never comes.
 */
async function findSent(
  deliveries: DeliveryStore,
  sender: ChannelSender,
  claimed: ClaimedNotification,
  outgoing: OutgoingMessage,
): Promise<string | null> {
  const held = await sender.listSent(outgoing, claimed.createdAt.epochMilliseconds);
  const { findsByWords = false } = sender;
  const { unclaimed, othersUncertain } = await deliveries.findUnclaimed(claimed, held, { ofIncident: findsByWords });
  return unclaimed.length > othersUncertain ? (unclaimed[0] ?? null) : null;
}

/**
 * Claims a notification until the lease ends. Null when it is not to be sent now: another process has it, its incident
 * was answered, or its person has got enough messages in this minute and it joins a digest.
 */
async function claimNotification(
  unit: UnitOfWork,
  notification: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  if (notification.kind === 'digest') return await claimDigest(unit, notification, leaseUntil);
  const { stores, now } = unit;
  if (!isAboutAccount(notification.kind) && notification.releasedAt === null) {
    await stores.digests.holdLine(notification);
    if (!(await stores.digests.lockWaiting(notification.id, now))) return null;
    if (await joinsDigest(unit, notification)) return null;
  }
  return await stores.deliveries.claim(notification.id, leaseUntil, now);
}

/** Adds the notification to a digest, an existing or a new one, if it would be one too many. */
async function joinsDigest({ stores, now, enqueue }: UnitOfWork, notification: NotificationRow): Promise<boolean> {
  const recent = await stores.digests.listRecent(notification, now);
  const decision = limitMessages(notification.kind === 'page' ? 'page' : 'notice', recent, now);
  switch (decision.kind) {
    case 'send':
      return false;
    case 'join':
      await stores.digests.fold(notification.id, decision.digest.id, now);
      return true;
    case 'open_digest': {
      const digestId = await stores.digests.open(notification, decision.dueAt, now);
      enqueue(deliverPage, { notificationId: digestId }, decision.dueAt);
      await stores.digests.fold(notification.id, digestId, now);
      return true;
    }
  }
}

/** A digest without messages is cancelled, and a digest with a single message is sent as that message. */
async function claimDigest(
  { stores, now }: UnitOfWork,
  digest: NotificationRow,
  leaseUntil: Temporal.Instant,
): Promise<ClaimedNotification | null> {
  await stores.digests.holdLine(digest);
  const claimed = await stores.deliveries.claim(digest.id, leaseUntil, now);
  if (claimed === null) return null;
  const [first, ...others] = await stores.digests.lockMembers(digest.id);
  if (first === undefined) {
    await stores.deliveries.cancel(digest.id, 'nothing_left', now);
    return null;
  }
  if (others.length > 0 || claimed.attempts > 1) {
    await stores.digests.markSending(digest.id, now);
    return claimed;
  }
  await stores.deliveries.cancel(digest.id, 'one_left', now);
  await stores.digests.unfold(first.id, now);
  return await stores.deliveries.claim(first.id, leaseUntil, now);
}
