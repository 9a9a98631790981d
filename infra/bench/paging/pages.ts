import type { PhoneRequest } from '@tocsin/phone-simulator';
import type { Database } from '#storage/postgres/database.ts';

/** A request for a page that the provider has taken. */
export interface TakenRequest {
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /** Whether the sender was told. One that was killed before sends again, and must. */
  readonly isAnswered: boolean;
}

/** Requests that the provider has taken, by the id of the entry in the notification log, first one first. */
export type TakenPages = ReadonlyMap<string, readonly TakenRequest[]>;

/** Collects what the phone simulator takes; call `look` more often than it forgets (5,000 requests). */
export class PageWatch {
  readonly #phoneUrl: string;
  readonly #taken = new Map<string, TakenRequest[]>();
  #seen = 0;

  constructor(phoneUrl: string) {
    this.#phoneUrl = phoneUrl;
  }

  /** Returns what was taken so far. */
  async look(): Promise<TakenPages> {
    const response = await fetch(`${this.#phoneUrl}/phone/api/requests?after=${this.#seen}`);
    const { requests } = (await response.json()) as { requests: PhoneRequest[] };
    for (const request of requests) {
      // Another call has noted it while this one waited for the answer.
      if (request.seq <= this.#seen) continue;
      // A request without an answer yet is looked at again.
      if (request.status === null && Date.now() - request.receivedAtMs < 2_000) break;
      this.#seen = request.seq;
      note(this.#taken, request);
    }
    return this.#taken;
  }
}

/** The same of requests that are all at hand. */
export function takenAmong(requests: readonly PhoneRequest[]): TakenPages {
  const taken = new Map<string, TakenRequest[]>();
  for (const request of requests) note(taken, request);
  return taken;
}

function note(taken: Map<string, TakenRequest[]>, request: PhoneRequest): void {
  if (!isTaken(request)) return;
  const { receivedAtMs, status } = request;
  const notificationId = notificationOf(request);
  const requests = taken.get(notificationId) ?? [];
  requests.push({ receivedAtMs, isAnswered: status !== null });
  taken.set(notificationId, requests);
}

/** Number of requests that followed one of which the sender knew. */
export function duplicatesAmong(requests: readonly TakenRequest[]): number {
  const firstAnswered = requests.findIndex(({ isAnswered }) => isAnswered);
  return firstAnswered < 0 ? 0 : requests.length - 1 - firstAnswered;
}

/** Whether the provider took a request. One whose sender died before the answer has no status, and counts. */
function isTaken({ method, status }: PhoneRequest): boolean {
  return method === 'POST' && (status === 201 || status === null);
}

/** The entry of the notification log that a request is about. */
function notificationOf({ form }: PhoneRequest): string {
  return String(form['StatusCallback']).split('/').at(-1) ?? '';
}

export interface PageFigures {
  readonly incidents: number;
  readonly steps: number;
  /** Number of steps in a state other than `fired`. */
  readonly stepsNotFired: number;
  readonly stepsFiredTwice: number;
  readonly pages: number;
  /** Number of pages that a digest told. */
  readonly inDigests: number;
  /** Entries of the log that no provider ever took, neither by themselves nor in a digest. */
  readonly lost: number;
  /** Requests of an entry or digest that followed one that had been answered. */
  readonly duplicates: number;
}

/** Counts the outcomes of every step and page. Updates about settled incidents are left out. */
export async function countPages({ sql }: Database, taken: TakenPages): Promise<PageFigures> {
  const counts = await sql.row<Omit<PageFigures, 'pages' | 'inDigests' | 'lost' | 'duplicates'>>(
    `select (select count(*)::int from incidents) as incidents,
       (select count(*)::int from incident_steps) as steps,
       (select count(*)::int from incident_steps where state <> 'fired') as "stepsNotFired",
       (select count(*)::int from (
          select 1 from incident_timeline where event = 'step_fired' group by incident_id, data->>'stepIndex'
          having count(*) > 1) twice) as "stepsFiredTwice"`,
  );
  const entries = await sql.rows<{ id: string; digestId: string | null }>(
    `select id, digest_id as "digestId" from notifications where kind = 'page'`,
  );
  const taking = (id: string | null): number => (id === null ? 0 : (taken.get(id)?.length ?? 0));
  const messages = new Set(entries.flatMap(({ id, digestId }) => (digestId === null ? [id] : [id, digestId])));
  if (counts === null) throw new Error('no counts');
  return {
    ...counts,
    pages: entries.length,
    inDigests: entries.filter(({ id, digestId }) => taking(id) === 0 && taking(digestId) > 0).length,
    lost: entries.filter(({ id, digestId }) => taking(id) + taking(digestId) === 0).length,
    duplicates: [...messages].reduce((sum, id) => sum + duplicatesAmong(taken.get(id) ?? []), 0),
  };
}

/** Whether every step has fired and every message has left. */
export async function isAllDone({ sql }: Database): Promise<boolean> {
  const left = await sql.row<{ count: number }>(
    `select (select count(*)::int from incident_steps where state = 'pending')
       + (select count(*)::int from notifications where status in ('queued', 'sending')) as count`,
  );
  return left?.count === 0;
}
