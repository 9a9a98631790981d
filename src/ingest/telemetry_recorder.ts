import { createHash } from 'node:crypto';

import type { Cipher } from '#auth/cipher.ts';
import { type SessionCounts, worseOutcome } from '#modules/exceptions/decide/sessions.ts';
import type { SentryDelivery } from '#ingest/protocols/sentry.ts';
import { kindOf, type SentAttachment } from '#ingest/protocols/sentry/side_items.ts';
import { messageOf } from '#kernel/errors.ts';
import { PeriodicWrite } from '#ingest/periodic_write.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { refusalHour, type ReleaseSessions, type SentItems } from '#modules/services/store/ingest_counts.ts';
import type { SessionOutcomeRow } from '#modules/exceptions/store/session_outcome_store.ts';
import { storesOf } from '#modules/stores.ts';

interface SideRecorderOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Encrypts files that came with events. */
  readonly cipher: Pick<Cipher, 'seal'>;
}

const WRITE_INTERVAL_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Limit on the rows of all services together that wait to be written, and on those of each. */
const ROWS_MAX = 20_000;
const SERVICE_ROWS_MAX = 5_000;
const ATTACHMENT_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Records what clients send besides events. Counts are written every ten seconds and at the end; files and user
 * feedback are written before the response. Nothing here fails a request: what cannot be stored is counted under its
 * name.
 */
export class TelemetryRecorder {
  readonly #options: SideRecorderOptions;
  readonly #writes: PeriodicWrite;
  #items = new Map<string, SentItems>();
  #sessions = new Map<string, ReleaseSessions>();
  #outcomes = new Map<string, SessionOutcomeRow>();
  /** Number of rows of sessions and outcomes that wait of each service. */
  #waiting = new Map<Id<'service'>, number>();
  #hour: Temporal.Instant | null = null;

  constructor(options: SideRecorderOptions) {
    this.#options = options;
    this.#writes = new PeriodicWrite(() => this.#write(), WRITE_INTERVAL_MS);
  }

  /** Returns once files and feedback are stored. */
  async accept(serviceId: Id<'service'>, delivery: SentryDelivery): Promise<void> {
    const { besides, dropped } = delivery;
    for (const { type, reason, count } of dropped) {
      // Others are counted as refused.
      if (type === 'event' && reason !== 'too_many') continue;
      this.count(serviceId, kindOf(type), reason === 'not_an_exception' ? 'not_kept' : reason, count);
    }
    for (const { kind, reason, count } of besides.discarded) this.count(serviceId, kind, reason, count);
    for (const { release, environment, ...counts } of besides.sessions) {
      this.#countSessions(serviceId, { release, environment }, counts);
    }
    for (const outcome of besides.outcomes) this.#rememberOutcome({ serviceId, ...outcome, hour: this.#hourNow() });
    const owner = ownerOfFiles(delivery);
    const lost = await this.#storeFeedback(serviceId, delivery);
    // Files of feedback that is not there are shown nowhere.
    const isLost = lost !== null && owner === besides.feedback[0]?.feedbackId;
    if (isLost) return this.count(serviceId, 'attachment', lost, besides.attachments.length);
    await this.#storeFiles(serviceId, owner, besides.attachments);
  }

  /** Returns why the first feedback was not stored; null if it was, or if there is none. */
  async #storeFeedback(serviceId: Id<'service'>, { besides }: SentryDelivery): Promise<string | null> {
    const createdAt = this.#options.clock.now();
    const reasons: (string | null)[] = [];
    for (const feedback of besides.feedback) {
      const reason = await this.#store(serviceId, 'feedback', async () => {
        const { eventExtras } = storesOf(this.#options.db.session());
        const { feedbackId, eventId, name, email, comments } = feedback;
        const id = contentId(serviceId, feedbackId ?? JSON.stringify([eventId, name, email, comments]));
        return await eventExtras.addFeedback({ id, serviceId, createdAt, ...feedback });
      });
      reasons.push(reason);
    }
    return reasons[0] ?? null;
  }

  async #storeFiles(serviceId: Id<'service'>, eventId: string, files: readonly SentAttachment[]): Promise<void> {
    const createdAt = this.#options.clock.now();
    for (const { name, contentType, content } of files) {
      await this.#store(serviceId, 'attachment', async () => {
        const sealed = this.#options.cipher.seal(content);
        const id = contentId(serviceId, eventId, name, content);
        const file = { id, serviceId, eventId, name, contentType, bytes: content.length };
        return await this.#options.db.transaction((session) =>
          storesOf(session).eventExtras.addAttachment({ ...file, content: sealed, createdAt }, ATTACHMENT_BYTES_MAX),
        );
      });
    }
  }

  count(serviceId: Id<'service'>, kind: string, reason: string, count = 1): void {
    const now = this.#options.clock.now();
    const hour = this.#hourOf(now);
    const key = `${serviceId} ${kind} ${reason} ${hour.epochMilliseconds}`;
    const before = this.#items.get(key)?.count ?? 0;
    if (count === 0 || (before === 0 && this.#items.size >= ROWS_MAX)) return;
    this.#items.set(key, { serviceId, kind, reason, hour, count: before + count, lastAt: now });
  }

  /** Joins a write that is already running. Never throws. */
  write(): Promise<void> {
    return this.#writes.write();
  }

  /** Writes the rest. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  #countSessions(
    serviceId: Id<'service'>,
    { release, environment }: { readonly release: string; readonly environment: string },
    counts: SessionCounts,
  ): void {
    const hour = this.#hourNow();
    const key = JSON.stringify([serviceId, release, environment, hour.epochMilliseconds]);
    const session = this.#sessions.get(key);
    if (session === undefined && !this.#takeRoom(serviceId)) return this.count(serviceId, 'session', 'too_many');
    this.#sessions.set(key, {
      serviceId,
      release,
      environment,
      hour,
      sessions: (session?.sessions ?? 0) + counts.sessions,
      errored: (session?.errored ?? 0) + counts.errored,
      crashed: (session?.crashed ?? 0) + counts.crashed,
      abnormal: (session?.abnormal ?? 0) + counts.abnormal,
    });
  }

  /** The worst of what is told of a session counts. */
  #rememberOutcome(row: SessionOutcomeRow): void {
    const key = `${row.serviceId} ${row.sessionId}`;
    const before = this.#outcomes.get(key);
    if (before === undefined && !this.#takeRoom(row.serviceId)) return this.count(row.serviceId, 'session', 'too_many');
    this.#outcomes.set(key, { ...(before ?? row), outcome: worseOutcome(before?.outcome ?? null, row.outcome) });
  }

  /** Takes room for a row of sessions; false when there is none, so that no service takes that of all others. */
  #takeRoom(serviceId: Id<'service'>): boolean {
    const waiting = this.#waiting.get(serviceId) ?? 0;
    if (waiting >= SERVICE_ROWS_MAX || this.#sessions.size + this.#outcomes.size >= ROWS_MAX) return false;
    this.#waiting.set(serviceId, waiting + 1);
    return true;
  }

  #hourNow(): Temporal.Instant {
    return this.#hourOf(this.#options.clock.now());
  }

  /**
   * Remembered, since a stranger's envelope holds a hundred sessions: the polyfill's times are entries of a WeakMap, and
   * collecting a hundred thousand a second held the process for a quarter of a second.
   */
  #hourOf(now: Temporal.Instant): Temporal.Instant {
    const hour = this.#hour;
    const isCurrent = hour !== null && now.epochMilliseconds >= hour.epochMilliseconds;
    if (isCurrent && now.epochMilliseconds < hour.epochMilliseconds + HOUR_MS) return hour;
    return (this.#hour = refusalHour(now));
  }

  /** Counts what is not stored, and returns why; null if it is. `store` returns false where there is no room. */
  async #store(serviceId: Id<'service'>, kind: string, store: () => Promise<boolean>): Promise<string | null> {
    let reason = 'over_quota';
    try {
      if (await store()) return null;
    } catch (error) {
      this.#options.log.warn({ err: messageOf(error), serviceId }, `a ${kind} of an event could not be stored`);
      reason = 'unavailable';
    }
    this.count(serviceId, kind, reason);
    return reason;
  }

  /** Writes the counts; those that cannot be written now wait. */
  async #write(): Promise<void> {
    const [items, sessions, outcomes] = [this.#items, this.#sessions, this.#outcomes];
    if (items.size + sessions.size + outcomes.size === 0) return;
    this.#items = new Map();
    this.#sessions = new Map();
    this.#outcomes = new Map();
    this.#waiting = new Map();
    try {
      const left = await this.#options.db.transaction(async (session) => {
        const { sentItems, sessionOutcomes } = storesOf(session);
        const recorded = await sessionOutcomes.record([...outcomes.values()]);
        await sentItems.add([...items.values()]);
        const left = await sentItems.addSessions(totalsOf([...sessions.values(), ...recorded.changes]));
        return [...recorded.left, ...left];
      });
      for (const serviceId of left) this.count(serviceId, 'session', 'too_many');
    } catch (error) {
      this.#options.log.warn({ err: messageOf(error) }, 'failed to store counts of what clients sent; trying again');
      for (const row of items.values()) this.count(row.serviceId, row.kind, row.reason, row.count);
      for (const { serviceId, release, environment, hour: _, ...counts } of sessions.values()) {
        this.#countSessions(serviceId, { release, environment }, counts);
      }
      for (const row of outcomes.values()) this.#rememberOutcome(row);
    }
  }
}

/** Returns the same id for the same content, so that what a client sends twice is stored once. */
function contentId(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)} `).update(part);
  return hash.digest('hex').slice(0, 32);
}

/** The id under which files are kept: of the event; without one, of what the feedback is about, or of the feedback itself. */
function ownerOfFiles({ events, besides: { feedback }, eventId }: SentryDelivery): string {
  const [first] = feedback;
  return events.length > 0 || first === undefined ? eventId : (first.eventId ?? first.feedbackId ?? eventId);
}

/** Sums rows up to one per release, environment and hour, as the store expects them. */
function totalsOf(rows: readonly ReleaseSessions[]): ReleaseSessions[] {
  const totals = new Map<string, ReleaseSessions>();
  for (const row of rows) {
    const key = JSON.stringify([row.serviceId, row.release, row.environment, row.hour.epochMilliseconds]);
    const sum = totals.get(key);
    const { sessions, errored, crashed, abnormal } = sum ?? { sessions: 0, errored: 0, crashed: 0, abnormal: 0 };
    totals.set(key, {
      ...row,
      sessions: sessions + row.sessions,
      errored: errored + row.errored,
      crashed: crashed + row.crashed,
      abnormal: abnormal + row.abnormal,
    });
  }
  return [...totals.values()];
}
