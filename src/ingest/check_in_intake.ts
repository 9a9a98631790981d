import { randomUUID } from 'node:crypto';

import { MONITORS_MAX, NEW_MONITORS_AN_HOUR_MAX } from '#modules/monitors/decide/check_in.ts';
import type { Owner } from '#ingest/intake.ts';
import type { SentCheckIn } from '#ingest/protocols/sentry/check_ins.ts';
import { Replayer } from '#ingest/replayer.ts';
import type { TelemetryRecorder } from '#ingest/telemetry_recorder.ts';
import { Spool } from '#ingest/spool.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { CheckInRefusal, NewCheckIn } from '#modules/monitors/store/check_in_store.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

interface CheckInOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder in which check-ins wait while the database is unavailable. */
  readonly spoolFolder: string;
  /** Counts what is not taken. */
  readonly telemetry: Pick<TelemetryRecorder, 'count'>;
}

const SPOOL_BYTES_MAX = 16 * 1024 * 1024;
/**
 * Interval at which the spool is checked, shorter than the time after which a worker that is back counts a run as
 * missed.
 */
const SPOOL_CHECK_MS = 10_000;

const REFUSALS: Readonly<Record<CheckInRefusal, string>> = {
  too_many_monitors: `this service has ${MONITORS_MAX} cron monitors, which is the most; delete one in the console first`,
  too_many_new_monitors: `by the DSN a service gets at most ${NEW_MONITORS_AN_HOUR_MAX} new cron monitors an hour; send the first check-in of this one with the ingestion key, or later`,
  key_only:
    'this cron monitor takes check-ins by the ingestion key of the service only: send Authorization: Bearer <INGESTION_KEY>',
  too_many_waiting: 'too many check-ins of this service wait; send fewer of them',
};

/** Takes check-ins of scheduled jobs. Their clients never retry, so they wait on disk while the database is away. */
export class CheckInIntake {
  readonly #options: CheckInOptions;
  readonly #spool: Spool;
  readonly #replayer: Replayer;
  readonly #timer: NodeJS.Timeout;
  /** Whether the database took the last of those that it was given. */
  #isBack = false;
  /** Whether the oldest on the disk cannot be stored, whatever the reason: the others do not wait for it. */
  #isStuck = false;

  constructor(options: CheckInOptions) {
    this.#options = options;
    this.#spool = new Spool({ folder: options.spoolFolder, bytesMax: SPOOL_BYTES_MAX });
    this.#replayer = new Replayer(this.#spool, {
      add: async (bytes) => await this.#addSpooled(bytes),
      reportOldest: async () => {},
      log: options.log,
    });
    this.#timer = setInterval(() => this.#replayer.run(), SPOOL_CHECK_MS);
    this.#timer.unref();
    this.#replayer.run();
  }

  /**
   * Stores the check-ins durably, then returns the faults to tell the sender: an unreadable schedule (the check-in is taken
   * all the same), or why a check-in was refused. Faults are counted.
   */
  async accept(
    owner: Owner,
    checkIns: readonly SentCheckIn[],
    byKey = false,
  ): Promise<{ taken: number; faults: readonly string[] }> {
    const faults: string[] = [];
    let taken = 0;
    for (const { runId, configFault, ...sent } of checkIns) {
      if (configFault !== null) {
        faults.push(configFault);
        this.#options.telemetry.count(owner.serviceId, 'check-in', 'bad_schedule');
      }
      const { orgId, serviceId } = owner;
      const checkIn = {
        orgId,
        serviceId,
        ...sent,
        runId: runId ?? randomUUID().replaceAll('-', ''),
        isNamed: runId !== null,
        byKey,
        receivedAt: this.#options.clock.now(),
      };
      const refusal = await this.#store(checkIn);
      if (refusal === null) taken += 1;
      else faults.push(REFUSALS[refusal]);
    }
    return { taken, faults: [...new Set(faults)] };
  }

  /** Leaves the rest on disk to the next process. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#replayer.stop();
  }

  /** A check-in goes behind those on the disk: the end of a run that overtakes its begin leaves a run that never ends. */
  async #store(checkIn: NewCheckIn): Promise<CheckInRefusal | null> {
    if (this.#isStuck || this.#spool.isEmpty()) {
      try {
        return await this.#add(checkIn);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
      }
    }
    await this.#spool.write(toSpooled(checkIn));
    if (this.#isBack) this.#replayer.run();
    return null;
  }

  async #addSpooled(bytes: Buffer): Promise<void> {
    try {
      await this.#add(fromSpooled(bytes));
      this.#isStuck = false;
    } catch (error) {
      this.#isStuck = !isUnavailable(error);
      throw error;
    }
  }

  async #add(checkIn: NewCheckIn): Promise<CheckInRefusal | null> {
    this.#isBack = false;
    const refusal = await this.#options.db.transaction((session) => storesOf(session).checkIns.add(checkIn));
    this.#isBack = true;
    if (refusal !== null) this.#options.telemetry.count(checkIn.serviceId, 'check-in', refusal);
    return refusal;
  }
}

function toSpooled(checkIn: NewCheckIn): Buffer {
  return Buffer.from(JSON.stringify(checkIn));
}

function fromSpooled(bytes: Buffer): NewCheckIn {
  const checkIn = JSON.parse(bytes.toString('utf8')) as Omit<NewCheckIn, 'receivedAt'> & { receivedAt: string };
  return { ...checkIn, receivedAt: Temporal.Instant.from(checkIn.receivedAt) };
}

/** Error for a sender none of whose check-ins was accepted. */
export function checkInRefused(faults: readonly string[]): AppError {
  return new AppError('conflict', faults.join('; '));
}
