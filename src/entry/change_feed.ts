import { livenessAt } from '#auth/sessions.ts';
import { LIVE_IDS_MAX, type LiveChange, type LiveTopic } from '#core/console/live_topics.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Listener, StoredChange } from '#storage/postgres/change_reader.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

interface Ears {
  tell(changes: readonly LiveChange[]): void;
  /** The listener may no longer listen, or the process ends. */
  end(): void;
}

export interface ChangeFeed {
  /** Tells of every change from now on; returns what stops it. Throws `rate_limited` for too many of one session. */
  listen(listener: Listener, ears: Ears): Promise<() => void>;
  /** Ends all of them. */
  close(): void;
}

/** With what a console takes to fetch what has changed, somebody else's change is seen within a second. */
const LOOK_MS = 500;
/** A transaction commits later than the time it writes, and clocks of machines differ: so far back is looked again. */
const OVERLAP_SECONDS = 30;
const STREAMS_PER_SESSION_MAX = 20;

/**
 * Looks twice a second, for all listeners of this process together, and only while there are any: two indexed queries a
 * look and process, whatever the number of consoles. LISTEN/NOTIFY would tell sooner, but it makes every commit that
 * notifies wait for the one before it, the ones that page people too, and does not pass poolers of connections.
 */
export function createChangeFeed(db: Database, clock: Clock, log: Log): ChangeFeed {
  const listening = new Map<Ears, Listener>();
  /** Changes that were told, by key; forgotten once they are too old to be read again. */
  const told = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  const read = async (orgIds: readonly Id<'org'>[]): Promise<StoredChange[]> => {
    const now = clock.now();
    const found = await storesOf(db.session()).changes.listSince(orgIds, now.subtract({ seconds: OVERLAP_SECONDS }));
    const fresh = found.filter(({ key }) => !told.has(key));
    for (const { key } of fresh) told.set(key, now.epochMilliseconds);
    for (const [key, at] of told) {
      if (at > now.epochMilliseconds - 2_000 * OVERLAP_SECONDS) break;
      told.delete(key);
    }
    return fresh;
  };
  const endThoseWhoMayNot = async (): Promise<void> => {
    const live = await storesOf(db.session()).changes.listLiveListeners(
      [...listening.values()],
      livenessAt(clock.now()),
    );
    for (const [ears, { sessionId, orgId }] of listening) if (!live.has(`${sessionId} ${orgId}`)) ears.end();
  };
  const look = async (): Promise<void> => {
    try {
      await endThoseWhoMayNot();
      const orgIds = [...new Set([...listening.values()].map(({ orgId }) => orgId))];
      const byOrganization = Map.groupBy(orgIds.length === 0 ? [] : await read(orgIds), ({ orgId }) => orgId);
      for (const [ears, { orgId }] of listening) {
        const changes = toldChanges(byOrganization.get(orgId) ?? []);
        if (changes.length > 0) ears.tell(changes);
      }
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'it is not known what has changed; the next look tells');
    }
    timer = listening.size === 0 ? null : setTimeout(() => void look(), LOOK_MS);
  };

  return {
    async listen(listener, ears) {
      const others = [...listening.values()];
      if (others.filter(({ sessionId }) => sessionId === listener.sessionId).length >= STREAMS_PER_SESSION_MAX) {
        throw new AppError('rate_limited', 'this session listens too often', { retryAfterSeconds: 60 });
      }
      // What was before is no news.
      if (!others.some(({ orgId }) => orgId === listener.orgId)) await read([listener.orgId]);
      listening.set(ears, listener);
      timer ??= setTimeout(() => void look(), LOOK_MS);
      return () => {
        listening.delete(ears);
      };
    },
    close() {
      for (const ears of listening.keys()) ears.end();
      listening.clear();
      if (timer !== null) clearTimeout(timer);
    },
  };
}

const TOPICS: Readonly<Record<string, LiveTopic>> = {
  incident: 'incidents',
  group: 'exceptions',
  service: 'services',
  rule: 'services',
  team: 'teams',
  member: 'teams',
  schedule: 'teams',
  override: 'teams',
  policy: 'teams',
  user: 'teams',
};

/** Each thing once, by the id that the console knows it by: a rule by its service, a member by the team. */
function toldChanges(changes: readonly StoredChange[]): LiveChange[] {
  const ids = new Map<LiveTopic, Set<string | null>>();
  for (const { target, owner } of changes) {
    const kind = target.split('_')[0] ?? '';
    const topic = TOPICS[kind];
    if (topic === undefined) continue;
    const isShown = kind === 'incident' || kind === 'group' || kind === 'service' || kind === 'team';
    ids.set(topic, (ids.get(topic) ?? new Set()).add(isShown ? target : owner));
  }
  return [...ids].map(([topic, of]) => {
    const named = [...of].filter((id) => id !== null);
    return { topic, ids: of.has(null) || named.length > LIVE_IDS_MAX ? null : named };
  });
}
