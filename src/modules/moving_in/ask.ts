import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';

import type { RawDocument } from '#modules/moving_in/decide/raw.ts';
import { AppError, messageOf } from '#kernel/errors.ts';

const ANSWER_BYTES_MAX = 64 * 1_048_576;
const REQUESTS_MAX = 100_000;
const REQUEST_MS_MAX = 60_000;
const TRIES_MAX = 8;
const WAIT_MS_MAX = 300_000;
const KEY_BYTES_MAX = 16_384;
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
  readonly keyFile: string;
  /** Headers for a key. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** Folder in which answers are kept, so that a reading that broke off goes on where it stopped; null: none. */
  readonly keepIn: string | null;
  /** Time to wait for another key when one is refused halfway. */
  readonly keyWaitMs: number;
  readonly outside: AskOutside;
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
  async get(pathAndQuery: string, isOptional = false): Promise<unknown> {
    const kept = await this.#readKept(pathAndQuery);
    const answer = kept ?? (await this.#askUntilAnswered(pathAndQuery, isOptional));
    if (answer === null) return null;
    const documentPath = decodeURIComponent(pathAndQuery).toLowerCase();
    this.documents.push({ path: documentPath, value: answer.value });
    if (kept === null) await this.#keep(pathAndQuery, answer.value);
    return answer.value;
  }

  async #askUntilAnswered(pathAndQuery: string, isOptional: boolean): Promise<{ value: unknown } | null> {
    const { outside } = this.#setting;
    let fault = '';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const outcome = await this.#askOnce(pathAndQuery);
      if ('value' in outcome) return outcome;
      if (outcome.isMissing) {
        if (isOptional) return null;
        throw new AppError(
          'invalid_input',
          `${this.#shown(pathAndQuery)} answers ${outcome.fault}: check --base-url and what the key may read`,
        );
      }
      fault = outcome.fault;
      if (outcome.isKeyRefused) {
        await this.#awaitOtherKey(pathAndQuery, fault);
        continue;
      }
      if (tries < TRIES_MAX - 1) await outside.sleep(Math.min(WAIT_MS_MAX, outcome.waitMs ?? 1_000 * 2 ** tries));
    }
    throw new AppError(
      'invalid_input',
      `${this.#shown(pathAndQuery)} answered ${fault} ${TRIES_MAX} times: try again later; nothing was written`,
    );
  }

  async #askOnce(pathAndQuery: string): Promise<Outcome> {
    this.#requests += 1;
    if (this.#requests > REQUESTS_MAX)
      throw new AppError('invalid_input', `more than ${REQUESTS_MAX} requests would be needed`);
    const { outside, baseUrl, headers } = this.#setting;
    this.#key ??= await this.#readKey();
    try {
      const response = await outside.fetch(`${baseUrl}${pathAndQuery}`, {
        headers: { accept: 'application/json', ...headers(this.#key) },
        redirect: 'error',
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
      });
      return await outcomeOf(response, outside.now());
    } catch (error) {
      return { fault: `no whole answer (${withoutKey(messageOf(error), this.#key)})` };
    }
  }

  /** Waits until the file holds another key than the refused one, and throws when it does not. */
  async #awaitOtherKey(pathAndQuery: string, fault: string): Promise<void> {
    const { outside, keyFile, keyWaitMs } = this.#setting;
    const refused = this.#key;
    for (let waited = 0; ; waited += KEY_LOOK_MS) {
      const key = await this.#readKey();
      if (key !== refused) {
        this.#key = key;
        return;
      }
      if (waited >= keyWaitMs) break;
      if (waited === 0)
        outside.say(`The key was refused (${fault}). Write another one to ${keyFile}, and the reading goes on.`);
      await outside.sleep(KEY_LOOK_MS);
    }
    const hint =
      this.documents.length === 0
        ? 'check the key'
        : `it may have expired after ${this.documents.length} answers: put a new one into the file, and read again; with --keep a reading goes on where it stopped`;
    throw new AppError(
      'invalid_input',
      `${this.#shown(pathAndQuery)} refused the key in ${keyFile} with ${fault}: ${hint}. Nothing was written`,
    );
  }

  async #readKey(): Promise<string> {
    const { keyFile } = this.#setting;
    let text: string;
    try {
      text = await readFile(keyFile, 'utf8');
    } catch {
      throw new AppError('invalid_input', `the key file ${keyFile} cannot be read`);
    }
    const key = text.trim();
    if (key === '' || key.length > KEY_BYTES_MAX || /\p{Cc}/u.test(key)) {
      throw new AppError('invalid_input', `${keyFile} has to hold a key, and nothing else`);
    }
    return key;
  }

  #shown(pathAndQuery: string): string {
    return `${new URL(this.#setting.baseUrl).host}${pathAndQuery.split('?')[0]}`;
  }

  async #readKept(pathAndQuery: string): Promise<{ value: unknown } | null> {
    const file = this.#keptFile(pathAndQuery);
    if (file === null) return null;
    try {
      return { value: JSON.parse(await readFile(file, 'utf8')) as unknown };
    } catch {
      return null;
    }
  }

  async #keep(pathAndQuery: string, value: unknown): Promise<void> {
    const file = this.#keptFile(pathAndQuery);
    if (file === null) return;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, JSON.stringify(value), { mode: 0o600 });
  }

  /** The name of the file tells what was asked, so that the folder can be read by itself. */
  #keptFile(pathAndQuery: string): string | null {
    const { keepIn } = this.#setting;
    if (keepIn === null) return null;
    const name = decodeURIComponent(pathAndQuery)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._=-]+/g, '-')
      .replace(/^-/, '');
    const short =
      name.length <= 180
        ? name
        : `${name.slice(0, 150)}-${createHash('sha256').update(pathAndQuery).digest('hex').slice(0, 16)}`;
    return path.join(keepIn, `${short}.json`);
  }
}

type Outcome =
  | { readonly value: unknown }
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
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { fault: 'something that is no JSON' };
  }
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

/** Runs work on each item, some at once, and stops at the first fault. */
export async function eachOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  atOnce = 4,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run));
}
