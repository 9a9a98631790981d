import { objectOf, objectsOf, type RawDocument, textOf } from '#modules/moving_in/decide/raw.ts';
import { AppError, messageOf } from '#kernel/errors.ts';

const ANSWER_BYTES_MAX = 64 * 1_048_576;
const REQUESTS_MAX = 100_000;
const REQUEST_MS_MAX = 60_000;
const TRIES_MAX = 8;
const WAIT_MS_MAX = 300_000;
/** Pause between two looks into the file of a refused key for another one. */
const KEY_LOOK_MS = 1_000;

/** Outside of a reading, which tests replace. */
export interface AskOutside {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly say: (sentence: string) => void;
  readonly now: () => number;
}

export interface AskSetting {
  readonly baseUrl: string;
  /** Key of the tool, and what a person calls its place, such as the name of a file. */
  readonly key: { readonly place: string; read(): Promise<string> };
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** Place where answers are kept, so that a reading that broke off goes on where it stopped; null: nowhere. */
  readonly kept: KeptAnswers | null;
  /** Time to wait for another key when one is refused halfway. */
  readonly keyWaitMs: number;
  readonly outside: AskOutside;
}

/** One request: a path with its query, and what differs from a plain GET of the usual address. */
export interface AskRequest {
  readonly path: string;
  /** Whether nothing may be there. */
  readonly isOptional?: boolean;
  /** Origin, where it is not that of the tool. */
  readonly origin?: string;
  /** JSON that is sent by POST: a query that only reads. */
  readonly body?: object;
  /** Name of the answer, where the path alone does not tell it from others. */
  readonly name?: string;
  /** Whether the answer only serves the asking, so that no reader sees it. */
  readonly isAside?: boolean;
}

/** An answer, with the query of the next page if its header `Link` names one. */
export interface Answer {
  readonly value: unknown;
  readonly next: string | null;
}

/** Answers of a reading that may break off, by the path and query that was asked for. */
export interface KeptAnswers {
  find(name: string): Promise<Answer | null>;
  keep(name: string, answer: Answer): Promise<void>;
}

/** Asks an API of another tool for one answer after the other, and keeps them; never the key. */
export class Ask {
  readonly documents: RawDocument[] = [];
  readonly #setting: AskSetting;
  #key: string | null = null;
  #requests = 0;

  constructor(setting: AskSetting) {
    this.#setting = setting;
  }

  /**
   * Returns the answer to a path with its query. A limit, a fault of the server and half an answer are waited out; null
   * if nothing is there and `isOptional`. Throws a sentence that names the path, never the key.
   */
  async get(path: string, isOptional = false): Promise<unknown> {
    return (await this.answer({ path, isOptional }))?.value ?? null;
  }

  /** Returns the answer to a request, as `get` does, with the query of the next page. */
  async answer(request: AskRequest): Promise<Answer | null> {
    const name = request.name ?? request.path;
    const kept = (await this.#setting.kept?.find(name)) ?? null;
    const answer = kept ?? (await this.#askUntilAnswered(request));
    if (answer === null) return null;
    if (request.isAside) return answer;
    this.documents.push({ path: decodeURIComponent(name).toLowerCase(), value: answer.value });
    if (kept === null) await this.#setting.kept?.keep(name, answer);
    return answer;
  }

  get origin(): string {
    return new URL(this.#setting.baseUrl).origin;
  }

  async #askUntilAnswered(request: AskRequest): Promise<Answer | null> {
    const { outside } = this.#setting;
    let fault = '';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const outcome = await this.#askOnce(request);
      if ('value' in outcome) return outcome;
      if (outcome.isMissing) {
        if (request.isOptional) return null;
        throw new AppError(
          'invalid_input',
          `${this.#shown(request)} answers ${outcome.fault}: check --base-url and what the key may read`,
        );
      }
      fault = outcome.fault;
      if (outcome.isKeyRefused) {
        await this.#awaitOtherKey(request, fault);
        continue;
      }
      if (tries < TRIES_MAX - 1) await outside.sleep(Math.min(WAIT_MS_MAX, outcome.waitMs ?? 1_000 * 2 ** tries));
    }
    throw new AppError(
      'invalid_input',
      `${this.#shown(request)} answered ${fault} ${TRIES_MAX} times: try again later; nothing was written`,
    );
  }

  async #askOnce({ path: pathAndQuery, origin, body }: AskRequest): Promise<Outcome> {
    this.#requests += 1;
    if (this.#requests > REQUESTS_MAX)
      throw new AppError('invalid_input', `more than ${REQUESTS_MAX} requests would be needed`);
    const { outside, baseUrl, headers } = this.#setting;
    this.#key ??= await this.#setting.key.read();
    try {
      const response = await outside.fetch(`${origin ?? baseUrl}${pathAndQuery}`, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers(this.#key),
        },
        redirect: 'error',
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
      });
      return await outcomeOf(response, outside.now());
    } catch (error) {
      if (error instanceof AppError) throw error;
      return { fault: `no whole answer (${withoutKey(messageOf(error), this.#key)})` };
    }
  }

  /** Waits until the file holds another key than the refused one, and throws when it does not. */
  async #awaitOtherKey(request: AskRequest, fault: string): Promise<void> {
    const { outside, key, keyWaitMs } = this.#setting;
    const refused = this.#key;
    for (let waited = 0; ; waited += KEY_LOOK_MS) {
      const other = await key.read();
      if (other !== refused) {
        this.#key = other;
        return;
      }
      if (waited >= keyWaitMs) break;
      if (waited === 0)
        outside.say(`The key was refused (${fault}). Write another one to ${key.place}, and the reading goes on.`);
      await outside.sleep(KEY_LOOK_MS);
    }
    const hint =
      this.documents.length === 0
        ? 'check the key'
        : `it may have expired after ${this.documents.length} answers: give a new one, and read again; a reading whose answers are kept goes on where it stopped`;
    throw new AppError(
      'invalid_input',
      `${this.#shown(request)} refused the key in ${key.place} with ${fault}: ${hint}. Nothing was written`,
    );
  }

  #shown({ path: pathAndQuery, origin }: AskRequest): string {
    return `${new URL(origin ?? this.#setting.baseUrl).host}${pathAndQuery.split('?')[0]}`;
  }
}

type Outcome =
  | Answer
  | { readonly fault: string; readonly waitMs?: number; readonly isMissing?: boolean; readonly isKeyRefused?: boolean };

async function outcomeOf(response: Response, now: number): Promise<Outcome> {
  const { status } = response;
  if (status === 401 || status === 403)
    return { fault: `status ${status}`, isKeyRefused: status === 401, ...(status === 403 && { isMissing: true }) };
  if (status === 429 || status >= 500) {
    await response.body?.cancel();
    return { fault: `status ${status}`, ...waitOf(response.headers, now) };
  }
  if (!response.ok) return { fault: `status ${status}`, isMissing: true };
  const text = await response.text();
  if (text.length > ANSWER_BYTES_MAX)
    throw new AppError('invalid_input', `an answer is larger than ${ANSWER_BYTES_MAX / 1_048_576} MB`);
  try {
    return graphAnswer(JSON.parse(text), nextOf(response.headers.get('link') ?? ''));
  } catch {
    return { fault: 'something that is no JSON' };
  }
}

/** Returns the answer, or the fault of a GraphQL answer, whose status is 200 then. */
function graphAnswer(value: unknown, next: string | null): Outcome {
  const errors = objectsOf(objectOf(value)?.['errors']);
  if (errors.length === 0 || objectOf(value)?.['data'] === undefined) return { value, next };
  const isQueryRefused = errors.some((error) => textOf(error, 'message').includes('wrong query'));
  if (isQueryRefused) return { fault: 'that the key belongs to another query', isMissing: true };
  return { fault: 'errors in place of some of the data' };
}

/** Returns the query of the next page by a header `Link`; null if there is none, or the header says it is empty. */
function nextOf(link: string): string | null {
  for (const part of link.split(/,(?=\s*<)/)) {
    const url = /^\s*<([^>]*)>/.exec(part)?.[1];
    if (url === undefined || !/rel="next"/.test(part) || /results="false"/.test(part)) continue;
    return URL.parse(url, 'http://next')?.search ?? null;
  }
  return null;
}

/** Returns how long the other side asks to wait, by the headers that these tools send. */
function waitOf(headers: Headers, now: number): { waitMs?: number } {
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) {
    const seconds = Number(retryAfter);
    const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - now;
    if (Number.isFinite(ms)) return { waitMs: Math.max(0, ms) };
  }
  for (const name of ['ratelimit-reset', 'x-ratelimit-period-in-sec']) {
    const seconds = Number(headers.get(name) ?? Number.NaN);
    if (Number.isFinite(seconds) && seconds >= 0) return { waitMs: seconds * 1_000 };
  }
  return {};
}

function withoutKey(text: string, key: string): string {
  return text.replaceAll(key, '…');
}

/** Runs work on each item, some at once. After a fault no other begins, and what has begun ends before it is thrown. */
export async function eachOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  atOnce = 4,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      try {
        await work(item);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const runs = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, run));
  for (const outcome of runs) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Returns the address of a tool without a slash at its end; `field` is what a person calls it. */
export function addressOf(text: string | null, field: string): string {
  if (text === null) throw new AppError('invalid_input', `give the address of the tool: ${field}`);
  const url = URL.parse(text);
  if (
    url === null ||
    !['https:', 'http:'].includes(url.protocol) ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new AppError(
      'invalid_input',
      `${field} has to be an address such as https://api.example.com, without a key, query or fragment`,
    );
  }
  return url.href.replace(/\/+$/, '');
}
