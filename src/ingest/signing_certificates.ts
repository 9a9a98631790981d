import { AppError } from '#kernel/errors.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Clock } from '#kernel/time.ts';

/** Fetches a document from an address outside, within bounds of time and size. */
type FetchOutside = (url: string) => Promise<Response>;

const KEPT_MAX = 100;
const KEPT_MS = 24 * 3_600_000;
const FETCHING = { concurrency: 4, concurrencyPerKey: 1 };

/** Certificates by which tools sign what they send, fetched once a day. */
export class SigningCertificates {
  readonly #fetch: FetchOutside;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly pem: string; readonly untilMs: number }>();
  readonly #fetching = new KeyedLimit(FETCHING);

  constructor(fetch: FetchOutside, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Returns the certificate as PEM. Throws `unavailable` while it cannot be fetched, so that the sender tries again. */
  async get(url: string): Promise<string> {
    return this.#find(url) ?? (await this.#fetching.run(url, async () => this.#find(url) ?? (await this.#load(url))));
  }

  #find(url: string): string | null {
    const kept = this.#kept.get(url);
    return kept !== undefined && kept.untilMs > this.#clock.now().epochMilliseconds ? kept.pem : null;
  }

  async #load(url: string): Promise<string> {
    const pem = await fetchText(this.#fetch, url);
    const oldest = this.#kept.size >= KEPT_MAX ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(url, { pem, untilMs: this.#clock.now().epochMilliseconds + KEPT_MS });
    return pem;
  }
}

/** Throws `unavailable` unless the address answers with 200. */
export async function fetchText(fetch: FetchOutside, url: string): Promise<string> {
  const { host } = new URL(url);
  try {
    const answer = await fetch(url);
    if (answer.ok) return await answer.text();
    throw new Error(`it answered with ${answer.status}`);
  } catch (cause) {
    throw new AppError('unavailable', `${host} cannot be reached from this server; send the message again`, {
      cause,
      retryAfterSeconds: 20,
    });
  }
}
