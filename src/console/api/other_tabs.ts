import { BASE } from '#console/api/http.ts';

/** Who is signed in at this browser now. */
interface SessionChange {
  /** null for nobody. */
  readonly userId: string | null;
}

let channel: BroadcastChannel | null = null;

/** One for the whole page: what it sends does not come back to it. */
const channelOfTabs = (): BroadcastChannel => (channel ??= new BroadcastChannel(`tocsin-session-${BASE.pathname}`));

export function tellOtherTabs(change: SessionChange): void {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is for its own origin only
  channelOfTabs().postMessage(change);
}

export function onChangeInOtherTab(listener: (change: SessionChange) => void): void {
  channelOfTabs().addEventListener('message', ({ data }: MessageEvent<SessionChange>) => listener(data));
}
