import type { Cipher } from '#auth/cipher.ts';
import { sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';
import type { AlertEvent, AlertLink } from '#modules/alerts/decide/alert_event.ts';
import type { AlertOutcome, AlertOwner, AlertSourceName, SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import type { AlertIntake } from '#ingest/alert_intake.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import type { AlertAnswer, AlertReading, SentDeploy } from '#ingest/protocols/alerts/alert_protocol.ts';
import { asObject, withoutSecretValues } from '#ingest/protocols/sentry/json.ts';
import { fetchText, SigningCertificates } from '#ingest/signing_certificates.ts';
import type { RateLimiter } from '#ingest/rate_limiter.ts';
import { withoutSecrets } from '#modules/exceptions/decide/secrets.ts';
import { AppError, errorCodeOf, invalidInput, messageOf } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

interface AlertExchangeOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly intake: AlertIntake;
  readonly rates: RateLimiter;
  readonly counters: IngestCounters;
  /** Encrypts the bodies that are kept. */
  readonly cipher: Cipher;
  /** Fetches a document from an address outside. */
  readonly fetchOutside: (url: string) => Promise<Response>;
  readonly takeHeartbeat: (owner: AlertOwner, name: string) => Promise<void>;
  readonly recordDeploy: (owner: AlertOwner, deploy: SentDeploy, origin: RequestOrigin) => Promise<void>;
}

/** A body is shown to people who look what is wrong; longer ones are cut. */
const BODY_BYTES_MAX = 64 * 1024;
/** Interval at which a body of one source is kept, so that a flood writes nothing but its alerts. */
const KEEP_EVERY_MS = 1_000;
const KEPT_SOURCES_MAX = 10_000;

/** Searches of alerts at the same time: each reads the texts of all alerts of a service, and alerts to come need connections, too. */
const SEARCHES = { concurrency: 4, concurrencyPerKey: 1 };
/** Searches that run or wait; they keep places of alerts meanwhile. */
const SEARCHES_MAX = { ofAll: 32, ofService: 8 };
const SEARCH_MS_MAX = 3_000;
/** SQLSTATE: a statement took longer than it may. */
const CANCELED = '57014';

/** Does what requests for alerts ask for, and keeps what their sources page shows. */
export class AlertExchange {
  readonly #options: AlertExchangeOptions;
  /** Time at which a body of each source was last kept. */
  readonly #storedAt = new Map<string, number>();
  readonly #writing = new Set<Promise<void>>();
  readonly #certificates: SigningCertificates;
  readonly #searches = new KeyedLimit(SEARCHES);
  #searching = 0;

  constructor(options: AlertExchangeOptions) {
    this.#options = options;
    this.#certificates = new SigningCertificates(options.fetchOutside, options.clock);
  }

  async runApproved(
    owner: AlertOwner,
    protocol: AlertSourceName['protocol'],
    reading: AlertReading,
    origin: RequestOrigin,
  ): Promise<AlertAnswer> {
    switch (reading.kind) {
      case 'alerts':
        return reading.answer(await this.#accept(owner, reading.sent));
      case 'deploy':
        await this.#options.recordDeploy(owner, withoutDeploySecrets(reading.deploy), origin);
        return reading.answer();
      case 'addressed': {
        const { alerts } = storesOf(this.#options.db.session());
        const alert = await alerts.findNamed(owner.serviceId, protocol, { id: reading.id });
        return await this.runApproved(owner, protocol, reading.toReading(alert), origin);
      }
      case 'mapped': {
        const { alertSources } = storesOf(this.#options.db.session());
        const source = await alertSources.find(owner.serviceId, { protocol, name: reading.name });
        const { mapping } = sourceSettingsOf(source?.settings ?? {});
        return await this.runApproved(owner, protocol, reading.toReading(mapping), origin);
      }
      case 'certified':
        return await this.runApproved(
          owner,
          protocol,
          reading.toReading(await this.#certificates.get(reading.certificateUrl)),
          origin,
        );
      case 'visit':
        await fetchText(this.#options.fetchOutside, reading.url);
        return reading.answer();
      case 'heartbeat':
        await this.#options.takeHeartbeat(owner, reading.name);
        return reading.answer();
      case 'lookup':
        return await this.#lookUp(owner, protocol, reading.lookup);
      case 'answer':
        return reading.answer;
    }
  }

  /** Keeps a body among the last five of its source. */
  keepBody(owner: AlertOwner, source: AlertSourceName | undefined, bytes: Buffer, refusal: string | null): void {
    if (source === undefined || !this.#mayKeep(owner, source, refusal !== null)) return;
    const { db, clock, cipher } = this.#options;
    const now = clock.now();
    const sealed = cipher.seal(bytes.subarray(0, BODY_BYTES_MAX));
    this.#write(async () => {
      await db.transaction(async (session) => {
        const { alertSources } = storesOf(session);
        const { id: sourceId } = await alertSources.findOrCreate(owner, source, now);
        const { serviceId } = owner;
        await alertSources.keepBody({ serviceId, sourceId, receivedAt: now, refusal, sealed });
        if (refusal !== null) await alertSources.noteRefusal(sourceId, refusal, now);
      });
    });
  }

  /** Notes a refusal that is about no body. */
  noteRefusal(owner: AlertOwner, protocol: AlertSourceName['protocol'], refusal: AppError): void {
    const source = { protocol, name: '' };
    if (refusal.code === 'invalid_input' || refusal.code === 'unavailable') return;
    if (!this.#mayKeep(owner, source, true)) return;
    const { db, clock } = this.#options;
    const now = clock.now();
    this.#write(async () => {
      await db.transaction(async (session) => {
        const { alertSources } = storesOf(session);
        const { id } = await alertSources.findOrCreate(owner, source, now);
        await alertSources.noteRefusal(id, refusal.message, now);
      });
    });
  }

  /** Resolves once nothing is being written. */
  async settled(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }

  async #accept(owner: AlertOwner, sent: readonly SentAlert[]): Promise<AlertOutcome[]> {
    if (sent.length === 0) return [];
    let outcomes: AlertOutcome[] = [];
    await this.#options.rates.spend(owner.serviceId, sent.length, async () => {
      const clean = sent.map((alert) => ({ ...alert, event: withoutAlertSecrets(alert.event) }));
      outcomes = await this.#options.intake.accept(owner, clean);
    });
    this.#options.counters.accepted.alerts += sent.length;
    return outcomes;
  }

  async #lookUp(
    { serviceId }: AlertOwner,
    protocol: AlertSourceName['protocol'],
    lookup: Extract<AlertReading, { kind: 'lookup' }>['lookup'],
  ): Promise<AlertAnswer> {
    const { alerts } = storesOf(this.#options.db.session());
    if (lookup.kind === 'alert') return lookup.answer(await alerts.findNamed(serviceId, protocol, lookup.by));
    return await this.#search(serviceId, async (searched) => {
      if (lookup.kind === 'count')
        return lookup.answer(await searched.countMatching(serviceId, protocol, lookup.filter));
      const count = await searched.countMatching(serviceId, protocol, lookup.wanted.filter);
      return lookup.answer(await searched.listMatching(serviceId, protocol, lookup.wanted), count);
    });
  }

  /** Runs a search in its turn, and for some seconds at most. Throws `rate_limited` where too many wait already. */
  async #search<Result>(
    serviceId: AlertOwner['serviceId'],
    work: (alerts: Stores['alerts']) => Promise<Result>,
  ): Promise<Result> {
    if (this.#searching >= SEARCHES_MAX.ofAll || this.#searches.countOf(serviceId) >= SEARCHES_MAX.ofService) {
      throw new AppError('rate_limited', 'too many searches of alerts wait already; ask for one after the other', {
        retryAfterSeconds: 1,
      });
    }
    this.#searching += 1;
    const searchMsMax = limitBy(this.#options.clock, SEARCH_MS_MAX);
    try {
      return await this.#searches.run(serviceId, async () => {
        return await this.#options.db.transaction(async (session) => {
          await session.sql.run(`select set_config('statement_timeout', $1, true)`, [String(searchMsMax)]);
          return await work(storesOf(session).alerts);
        });
      });
    } catch (error) {
      if (errorCodeOf(error) !== CANCELED) throw error;
      throw invalidInput([{ path: 'query', message: 'takes too long for the alerts of this service; name less' }]);
    } finally {
      this.#searching -= 1;
    }
  }

  #mayKeep({ serviceId }: AlertOwner, { protocol, name }: AlertSourceName, isRefused: boolean): boolean {
    const key = `${serviceId} ${protocol} ${name} ${isRefused}`;
    const now = this.#options.clock.now().epochMilliseconds;
    const before = this.#storedAt.get(key);
    if (before !== undefined && before <= now && now - before < KEEP_EVERY_MS) return false;
    this.#storedAt.delete(key);
    this.#storedAt.set(key, now);
    const oldest = this.#storedAt.size > KEPT_SOURCES_MAX ? this.#storedAt.keys().next().value : undefined;
    if (oldest !== undefined) this.#storedAt.delete(oldest);
    return true;
  }

  /** Writes to the page of sources; a failure costs nothing but what that page shows. */
  #write(work: () => Promise<void>): void {
    const writing = work()
      .catch((error: unknown) => {
        this.#options.log.warn({ err: messageOf(error) }, 'failed to keep what a source of alerts has sent');
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}

/** Labels by which tools name an object: a Secret of Kubernetes, an instance of Oracle. */
const REFERENCES: Readonly<Record<string, RegExp>> = {
  secret: /^[a-z]+(?:[-.][a-z\d]+)*$/,
  secretname: /^[a-z]+(?:[-.][a-z\d]+)*$/,
  exported_secret: /^[a-z]+(?:[-.][a-z\d]+)*$/,
  sid: /^[A-Z]\w{0,11}$/i,
};

function isReference(name: string, value: unknown): boolean {
  return typeof value === 'string' && REFERENCES[name.toLowerCase()]?.test(value) === true;
}

/** Returns the event without secrets, as for exceptions: alerts are sent on to phones and chats. Keys stay as they are. */
function withoutAlertSecrets({ title, note, details, links, images, ...event }: AlertEvent): AlertEvent {
  return {
    ...event,
    title: title && withoutSecrets(title),
    note: note && withoutSecrets(note),
    details: details && asObject(withoutSecretValues(details, isReference)),
    links: links?.map(withoutLinkSecrets) ?? null,
    images: images?.map(withoutLinkSecrets) ?? null,
  };
}

function withoutLinkSecrets({ href, text }: AlertLink): AlertLink {
  return { href: withoutSecrets(href), text: withoutSecrets(text) };
}

function withoutDeploySecrets({ name, url, at }: SentDeploy): SentDeploy {
  return { name: withoutSecrets(name), url: url && withoutSecrets(url), at };
}
