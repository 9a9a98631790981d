import type { QueryClient } from '@tanstack/react-query';

import { addressOf } from '#console/api/http.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { topicKey } from '#console/api/queries.ts';
import { refreshServices } from '#console/api/services.ts';
import { refreshTeams } from '#console/api/teams.ts';
import { LIVE_IDS_MAX, type LiveChange, type LiveTopic } from '#core/console/live_topics.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

export type ConnectionState = 'connecting' | 'open' | 'lost';

/** News within so short a time is taken together: a storm must not make every tab ask a hundred times. */
const GATHER_MS = 100;
/** Between two attempts to connect; browsers end an event source that was answered with an error. */
const RECONNECT_MS = 3_000;

/**
 * Keeps what is shown up to date: the rows that the server says have changed are fetched, and no whole lists. One tab
 * listens and tells the others, since browsers hold only six connections to a server. Returns what ends it.
 */
export function followChanges(
  orgId: string,
  queryClient: QueryClient,
  onStateChange: (state: ConnectionState) => void,
): () => void {
  const ended = new AbortController();
  const pending = new Map<LiveTopic, Set<string> | null>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  const refresh = (): void => {
    timer = null;
    for (const [topic, ids] of pending) {
      const named = ids === null ? null : [...ids];
      void refreshTopic(queryClient, orgId, topic, named).catch(() => refreshTopic(queryClient, orgId, topic, null));
    }
    pending.clear();
  };
  const note = ({ topic, ids }: LiveChange): void => {
    const known = pending.get(topic);
    pending.set(topic, ids === null || known === null ? null : new Set([...(known ?? []), ...ids]));
    timer ??= setTimeout(refresh, GATHER_MS);
  };
  const others = openChannel(orgId);
  others.hear((told) => {
    if (typeof told === 'string') onStateChange(told);
    else note(told);
  });

  const listen = () =>
    listenUntil(ended.signal, orgId, {
      onChange(change) {
        note(change);
        others.tell(change);
      },
      onStateChange(state, isAgain) {
        // What happened in between nobody has told us.
        if (isAgain) void queryClient.invalidateQueries({ queryKey: ['org', orgId] });
        onStateChange(state);
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
    tell: (news: LiveChange | ConnectionState) => channel.postMessage(news),
    hear(listener: (news: LiveChange | ConnectionState) => void) {
      channel.addEventListener('message', ({ data }: MessageEvent<LiveChange | ConnectionState>) => listener(data));
    },
    close: () => channel.close(),
  };
}

async function refreshTopic(
  queryClient: QueryClient,
  orgId: string,
  topic: LiveTopic,
  ids: readonly string[] | null,
): Promise<void> {
  const isShort = ids !== null && ids.length <= LIVE_IDS_MAX;
  if (isShort && topic === 'incidents') return await refreshIncidents(queryClient, orgId, ids);
  if (isShort && topic === 'services') return await refreshServices(queryClient, orgId, ids);
  if (isShort && topic === 'teams') return await refreshTeams(queryClient, orgId, ids);
  await queryClient.invalidateQueries({
    queryKey: topicKey(orgId, topic),
    predicate: ({ queryKey }) => ids === null || isAbout(queryKey, ids),
  });
}

/** What is asked for by id is asked again only when it is meant. */
function isAbout(queryKey: readonly unknown[], ids: readonly string[]): boolean {
  const input = queryKey[4];
  return typeof input !== 'object' || input === null || Object.values(input).some((value) => ids.includes(value));
}

interface Listener {
  onChange(change: LiveChange): void;
  onStateChange(state: ConnectionState, isAgain: boolean): void;
}

/** Resolves when it is told to end, which may have been before its turn came. */
function listenUntil(signal: AbortSignal, orgId: string, { onChange, onStateChange }: Listener): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  let source: EventSource | null = null;
  let wasLost = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const connect = (): void => {
    source = new EventSource(addressOf(`${API_PATHS.console}/organizations/${orgId}/events`));
    source.addEventListener('open', () => {
      onStateChange('open', wasLost);
      wasLost = false;
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => onChange(JSON.parse(data) as LiveChange));
    source.addEventListener('error', () => {
      wasLost = true;
      onStateChange('lost', false);
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
