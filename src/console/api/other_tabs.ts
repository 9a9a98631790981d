import { BASE } from '#console/api/http.ts';

/** Change of who is signed in at this browser. */
interface SessionChange {
  /** User now signed in; null if nobody is. */
  readonly userId: string | null;
}

let channel: BroadcastChannel | null = null;

/** Returns the channel of the page. There is only one, so a page does not receive its own messages. */
const channelOfTabs = (): BroadcastChannel => (channel ??= new BroadcastChannel(`tocsin-session-${BASE.pathname}`));

export function tellOtherTabs(change: SessionChange): void {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is for its own origin only
  channelOfTabs().postMessage(change);
}

export function onChangeInOtherTab(listener: (change: SessionChange) => void): void {
  channelOfTabs().addEventListener('message', ({ data }: MessageEvent<SessionChange>) => listener(data));
}
