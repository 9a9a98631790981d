import type { QueryClient } from '@tanstack/react-query';

import { addressOf } from '#console/api/http.ts';
import { topicKey, type Topic } from '#console/api/queries.ts';

/** Something has changed; `id` names it where one thing did. */
interface Change {
  readonly topic: Topic;
  readonly id: string | null;
}

export type Connected = 'connecting' | 'open' | 'lost';

/** News within so short a time is taken together: a storm must not make every tab ask a hundred times. */
const GATHER_MS = 250;
/** Between two attempts to connect; browsers end an event source that was answered with an error. */
const RECONNECT_MS = 3_000;

/**
 * Keeps what is shown up to date: whatever the server says has changed is asked for again. One tab listens and tells the
 * others, since browsers hold only six connections to a server. Returns what ends it.
 */
export function followChanges(
  orgId: string,
  queryClient: QueryClient,
  onConnected: (state: Connected) => void,
): () => void {
  const ended = new AbortController();
  const pending = new Map<string, Change>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  const refresh = (): void => {
    timer = null;
    for (const { topic, id } of pending.values()) {
      void queryClient.invalidateQueries({
        queryKey: topicKey(orgId, topic),
        predicate: ({ queryKey }) => id === null || isAbout(queryKey, id),
      });
    }
    pending.clear();
  };
  const note = (change: Change): void => {
    pending.set(`${change.topic} ${change.id}`, change);
    timer ??= setTimeout(refresh, GATHER_MS);
  };
  const others = openChannel(orgId);
  others.hear((told) => {
    if (typeof told === 'string') onConnected(told);
    else note(told);
  });

  const listen = () =>
    listenUntil(ended.signal, orgId, {
      onChange(change) {
        note(change);
        others.tell(change);
      },
      onConnected(state, isAgain) {
        // What happened in between nobody has told us.
        if (isAgain) void queryClient.invalidateQueries({ queryKey: ['org', orgId] });
        onConnected(state);
        others.tell(state);
      },
    });
  if (navigator.locks === undefined) void listen();
  else navigator.locks.request(`tocsin-changes-${orgId}`, { signal: ended.signal }, listen).catch(() => {});

  return () => {
    ended.abort();
    others.close();
    if (timer !== null) clearTimeout(timer);
  };
}

/** What the tab that listens tells the others. */
function openChannel(orgId: string) {
  const channel = new BroadcastChannel(`tocsin-changes-${orgId}`);
  return {
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is for its own origin only
    tell: (news: Change | Connected) => channel.postMessage(news),
    hear(listener: (news: Change | Connected) => void) {
      channel.addEventListener('message', ({ data }: MessageEvent<Change | Connected>) => listener(data));
    },
    close: () => channel.close(),
  };
}

/** Lists speak of everything; what is asked for by id is asked again only when it is meant. */
function isAbout(queryKey: readonly unknown[], id: string): boolean {
  const input = queryKey[4];
  if (typeof input !== 'object' || input === null) return true;
  const ids = Object.entries(input).filter(([name]) => /^(?:incident|service|group|team)Id$/.test(name));
  return ids.length === 0 || ids.some(([, value]) => value === id);
}

interface Listener {
  onChange(change: Change): void;
  onConnected(state: Connected, isAgain: boolean): void;
}

/** Resolves when it is told to end, which may have been before its turn came. */
function listenUntil(signal: AbortSignal, orgId: string, { onChange, onConnected }: Listener): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  let source: EventSource | null = null;
  let wasLost = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const connect = (): void => {
    source = new EventSource(addressOf(`api/console/organizations/${orgId}/events`));
    source.addEventListener('open', () => {
      onConnected('open', wasLost);
      wasLost = false;
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => onChange(JSON.parse(data) as Change));
    source.addEventListener('error', () => {
      wasLost = true;
      onConnected('lost', false);
      if (source?.readyState !== EventSource.CLOSED) return;
      clearTimeout(timer);
      timer = setTimeout(connect, RECONNECT_MS);
    });
  };
  connect();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      source?.close();
      resolve();
    });
  });
}
