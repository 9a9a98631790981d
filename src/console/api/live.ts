import type { QueryClient } from '@tanstack/react-query';

import { shownSince } from '#console/api/initial_data.ts';
import { addressOf } from '#console/api/http.ts';
import { refreshExceptions } from '#console/api/exceptions.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { topicKey } from '#console/api/actions.ts';
import { refreshRules } from '#console/api/rules.ts';
import { refreshServices } from '#console/api/services.ts';
import { sessionQuery } from '#console/api/session.ts';
import { refreshTeams } from '#console/api/teams.ts';
import { LIVE_IDS_MAX, type LiveChange, type LiveTopic } from '#modules/pages/decide/live_topics.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

export type ConnectionState = 'connecting' | 'open' | 'lost';

/** Time within which changes are handled together: a storm must not make every tab send a hundred requests. */
const COALESCE_MS = 100;
/** Time between two attempts to connect. Browsers give up an event source that got an error status. */
const RECONNECT_MS = 3_000;

/**
 * Keeps the data of this organization up to date: it fetches the rows that the server names, not whole lists. One tab
 * listens and forwards the changes to the others, because browsers allow only six connections to a server. Returns a
 * function that stops it.
 */
export function followChanges(
  orgId: string,
  queryClient: QueryClient,
  onStateChange: (state: ConnectionState) => void,
): () => void {
  const readSince = shownSince(orgId);
  const stopped = new AbortController();
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
  const queue = ({ topic, ids }: LiveChange): void => {
    const queued = pending.get(topic);
    pending.set(topic, ids === null || queued === null ? null : new Set([...(queued ?? []), ...ids]));
    timer ??= setTimeout(refresh, COALESCE_MS);
  };
  const otherTabs = openChannel(orgId);
  const readAgain = () => void queryClient.invalidateQueries({ queryKey: ['org', orgId] });
  otherTabs.onMessage((message) => {
    if (typeof message !== 'string') return queue(message);
    // No tab has listened until now, or the one that did was closed.
    if (message === 'open') readAgain();
    onStateChange(message);
  });

  const listen = () =>
    listenUntil(stopped.signal, orgId, readSince, {
      onChange(change) {
        queue(change);
        otherTabs.send(change);
      },
      onStateChange(state, isAgain) {
        // Changes during the interruption were missed.
        if (isAgain) readAgain();
        onStateChange(state);
        otherTabs.send(state);
      },
      // The session may have been ended elsewhere: whoever only looks at the page must hear it, too.
      onRefused: () => void queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => {}),
    });
  if (navigator.locks === undefined) void listen();
  else navigator.locks.request(`tocsin-changes-${orgId}`, { signal: stopped.signal }, listen).catch(() => {});

  // The browser had put the page away and shows it again.
  const onShown = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) readAgain();
  };
  window.addEventListener('pageshow', onShown);

  return () => {
    window.removeEventListener('pageshow', onShown);
    stopped.abort();
    otherTabs.close();
    if (timer !== null) clearTimeout(timer);
  };
}

/** Opens the channel for messages from the listening tab to the others. */
function openChannel(orgId: string) {
  const channel = new BroadcastChannel(`tocsin-changes-${orgId}`);
  return {
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is for its own origin only
    send: (message: LiveChange | ConnectionState) => channel.postMessage(message),
    onMessage(listener: (message: LiveChange | ConnectionState) => void) {
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
  const isFew = ids !== null && ids.length <= LIVE_IDS_MAX;
  if (isFew && topic === 'exceptions') return await refreshExceptions(queryClient, orgId, ids);
  if (isFew && topic === 'incidents') {
    await Promise.all([
      refreshIncidents(queryClient, orgId, ids),
      refreshRules(queryClient, orgId, { incidentIds: [...ids] }),
    ]);
    return;
  }
  if (isFew && topic === 'rules') return await refreshRules(queryClient, orgId, { ruleIds: [...ids] });
  if (isFew && topic === 'services') return await refreshServices(queryClient, orgId, ids);
  if (isFew && topic === 'teams') return await refreshTeams(queryClient, orgId, ids);
  // A person came, or was invited: forms that choose people are open meanwhile.
  if (topic === 'teams') {
    for (const list of ['list_members', 'list_invitations']) {
      void queryClient.invalidateQueries({ queryKey: [...topicKey(orgId, 'settings'), list] });
    }
  }
  await queryClient.invalidateQueries({
    queryKey: topicKey(orgId, topic),
    predicate: ({ queryKey }) => ids === null || isAbout(queryKey, ids),
  });
}

/** Whether a query has to be reloaded: one with ids in its input only if one of these has changed. */
function isAbout(queryKey: readonly unknown[], ids: readonly string[]): boolean {
  const named = Object.entries(queryKey[4] ?? {}).flatMap(([name, value]) => (/Ids?$/.test(name) ? value : []));
  return named.length === 0 || named.some((id) => ids.includes(id));
}

interface Listener {
  onChange(change: LiveChange): void;
  onStateChange(state: ConnectionState, isAgain: boolean): void;
  /** Called when the server answers that this session may not listen, or cannot answer. */
  onRefused(): void;
}

/**
 * Listens until the signal aborts, which may be before it starts. The server also sends the changes since `readSince`,
 * when the page began to read what it shows.
 */
function listenUntil(
  signal: AbortSignal,
  orgId: string,
  readSince: number,
  { onChange, onStateChange, onRefused }: Listener,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  let source: EventSource | null = null;
  let wasLost = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const connect = (): void => {
    const path = `${API_PATHS.console}/organizations/${orgId}/events`;
    // After an interruption everything is reloaded.
    const since = wasLost ? '' : `?shownForMs=${Math.ceil(performance.now() - readSince)}`;
    source = new EventSource(addressOf(`${path}${since}`));
    source.addEventListener('open', () => {
      onStateChange('open', wasLost);
      wasLost = false;
    });
    source.addEventListener('change', ({ data }: MessageEvent<string>) => onChange(JSON.parse(data) as LiveChange));
    source.addEventListener('error', () => {
      wasLost = true;
      onStateChange('lost', false);
      if (source?.readyState !== EventSource.CLOSED) return;
      onRefused();
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
