import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import { withTimeout } from '#kernel/promises.ts';

interface KeyCacheOptions<Target> {
  /** Finds the target of each hash; a hash that opens nothing is absent. Throws `unavailable` if it cannot be known. */
  readonly findMany: (hashes: readonly Buffer[]) => Promise<readonly (Target & { readonly hash: Buffer })[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Cached target as of `askedAt`, the moment before the database was asked. */
interface Entry<Target> {
  readonly target: Target | null;
  readonly askedAt: number;
}

interface Question<Target> {
  readonly hash: Buffer;
  readonly promise: Promise<Target | null>;
  readonly resolve: (target: Target | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Age from which a key in use is refreshed in the background. */
const REFRESH_AFTER_MS = 450;
/** Maximum age of an entry while the database answers: a change takes effect everywhere within a second. */
const VALID_MS = 900;
/** Time for which verified keys stay valid while the database is unavailable, so that ingestion continues. */
const GOOD_WHILE_AWAY_MS = 60_000;
/** Timeout after which the database counts as unavailable for keys that were good. */
const TIMEOUT_MS = 1_000;
/** Interval at which an unavailable database is asked again. */
const ASK_AGAIN_MS = 250;
const GOOD_MAX = 50_000;
const BAD_MAX = 20_000;
const BATCH_MAX = 1_000;

/**
 * Remembers what keys open, and that they open nothing. However many keys are in use or being guessed, one query at
 * a time asks about all that wait: look-ups never crowd out the database's other work.
 */
export class KeyCache<Target> {
  readonly #options: KeyCacheOptions<Target>;
  // Apart, so that guessed keys never push out good ones.
  readonly #good = new Map<string, Entry<Target>>();
  readonly #bad = new Map<string, Entry<Target>>();
  /** Questions by key: those that wait for the next query, and those of the query under way. */
  readonly #waiting = new Map<string, Question<Target>>();
  #asked: ReadonlyMap<string, Question<Target>> = new Map();
  #isAsking = false;
  #awayAt: number | null = null;

  constructor(options: KeyCacheOptions<Target>) {
    this.#options = options;
  }

  /** Returns the target of the key with this hash, or null. Throws what `findMany` throws. */
  async find(hash: Buffer): Promise<Target | null> {
    const key = hash.toString('base64');
    const now = this.#now();
    const entry = this.#good.get(key) ?? this.#bad.get(key);
    const age = entry === undefined ? -1 : now - entry.askedAt;
    if (entry === undefined || age < 0) return await this.#ask(key, hash);
    if (age < REFRESH_AFTER_MS) return entry.target;
    if (age < VALID_MS) {
      if (this.#mayAsk(now)) this.#ask(key, hash).catch(() => {});
      return entry.target;
    }
    return entry.target === null || age > GOOD_WHILE_AWAY_MS
      ? await this.#ask(key, hash)
      : await this.#askAboutGood(key, hash, entry.target, now);
  }

  async #askAboutGood(key: string, hash: Buffer, cached: Target, now: number): Promise<Target | null> {
    if (!this.#mayAsk(now)) return cached;
    const answer = this.#ask(key, hash);
    answer.catch(() => {});
    if (this.#awayAt !== null) return cached;
    try {
      return await withTimeout(answer, limitBy(this.#options.clock, TIMEOUT_MS), () => {
        throw new AppError('unavailable', 'the database is slow to answer');
      });
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#noteAvailability(error);
      return cached;
    }
  }

  /** Joins the question about this key that waits or is being asked, or begins one. */
  #ask(key: string, hash: Buffer): Promise<Target | null> {
    const open = this.#waiting.get(key) ?? this.#asked.get(key);
    if (open !== undefined) return open.promise;
    const question = { hash, ...Promise.withResolvers<Target | null>() };
    this.#waiting.set(key, question);
    if (!this.#isAsking) {
      this.#isAsking = true;
      queueMicrotask(() => void this.#askWaiting());
    }
    return question.promise;
  }

  async #askWaiting(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = new Map([...this.#waiting].slice(0, BATCH_MAX));
      for (const key of batch.keys()) this.#waiting.delete(key);
      this.#asked = batch;
      await this.#askBatch(batch);
      this.#asked = new Map();
    }
    this.#isAsking = false;
  }

  async #askBatch(batch: ReadonlyMap<string, Question<Target>>): Promise<void> {
    const askedAt = this.#now();
    try {
      const answers = await this.#options.findMany([...batch.values()].map(({ hash }) => hash));
      const targets = new Map(answers.map((target) => [target.hash.toString('base64'), target]));
      this.#noteBack();
      for (const [key, { resolve }] of batch) {
        const target = targets.get(key) ?? null;
        this.#remember(key, { target, askedAt });
        resolve(target);
      }
    } catch (error) {
      if (isUnavailable(error)) this.#noteAvailability(error);
      for (const { reject } of batch.values()) reject(error);
    }
  }

  #remember(key: string, entry: Entry<Target>): void {
    const [entries, other, max] =
      entry.target === null ? [this.#bad, this.#good, BAD_MAX] : [this.#good, this.#bad, GOOD_MAX];
    other.delete(key);
    entries.delete(key);
    entries.set(key, entry);
    const oldest = entries.size > max ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  }

  #mayAsk(now: number): boolean {
    const sinceAway = this.#awayAt === null ? Infinity : now - this.#awayAt;
    return sinceAway < 0 || sinceAway >= ASK_AGAIN_MS;
  }

  #noteAvailability(error: AppError): void {
    if (this.#awayAt === null) {
      this.#options.log.warn({ err: error.cause ?? error }, 'failed to look up keys; keys verified before stay valid');
    }
    this.#awayAt = this.#now();
  }

  #noteBack(): void {
    if (this.#awayAt !== null) this.#options.log.info({}, 'key lookups work again');
    this.#awayAt = null;
  }

  #now(): number {
    return this.#options.clock.now().epochMilliseconds;
  }
}

/** Age of a query from which those that wait no longer wait for it: its connection may be lost. */
const SLOW_MS = 50;

/**
 * Reads what keys open, anew for each request. One query reads for all requests that wait, but never for one that came
 * after the query began: whoever has been told that a key is revoked finds it revoked.
 */
export class KeyReads<Target> {
  readonly #findMany: KeyCacheOptions<Target>['findMany'];
  #waiting = new Map<string, Question<Target>>();
  #isReading = false;

  constructor(findMany: KeyCacheOptions<Target>['findMany']) {
    this.#findMany = findMany;
  }

  /** Returns the target of the key with this hash, or null. Throws what `findMany` throws. */
  async find(hash: Buffer): Promise<Target | null> {
    const key = hash.toString('base64');
    const question = this.#waiting.get(key) ?? { hash, ...Promise.withResolvers<Target | null>() };
    this.#waiting.set(key, question);
    this.#readNext();
    return await question.promise;
  }

  /** Lets the requests that have arrived together come first. */
  #readNext(): void {
    if (this.#isReading || this.#waiting.size === 0) return;
    this.#isReading = true;
    setImmediate(() => void this.#readWaiting());
  }

  async #readWaiting(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = new Map();
    let isCurrent = true;
    const endTurn = (): void => {
      if (isCurrent) this.#isReading = false;
      isCurrent = false;
      this.#readNext();
    };
    const timer = setTimeout(endTurn, SLOW_MS);
    try {
      const answers = await this.#findMany([...asked.values()].map(({ hash }) => hash));
      const targets = new Map(answers.map((target) => [target.hash.toString('base64'), target]));
      for (const [key, { resolve }] of asked) resolve(targets.get(key) ?? null);
    } catch (error) {
      for (const { reject } of asked.values()) reject(error);
    }
    clearTimeout(timer);
    endTurn();
  }
}
