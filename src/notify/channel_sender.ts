import type { Channel } from '#core/oncall/channel.ts';

/** The incident that a message is about, as far as its text needs it. */
export interface PageSubject {
  readonly id: string;
  /** What a person types in a reply. */
  readonly number: number;
  readonly title: string;
  readonly severity: string;
  readonly serviceName: string;
}

/** One message to one person. */
export interface OutgoingPage {
  readonly notificationId: string;
  /** null for push, which goes to every browser the person has subscribed. */
  readonly to: string | null;
  readonly userId: string;
  readonly subject: PageSubject;
  /** A page wakes; news tells somebody who was woken that it is taken care of. */
  readonly message: { readonly kind: 'page' } | { readonly kind: 'news'; readonly event: 'acknowledged' | 'resolved' };
}

/** What a provider made of a message. Reasons are our own words, never a provider's text. */
export type Delivery =
  | { readonly kind: 'accepted'; readonly providerId: string | null }
  /** 429, 5xx, no connection: nothing was sent. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** A time-out after the request had left: it may have been sent. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** Bad number, opted out: this channel will never reach this address. */
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. Senders keep no state and retry nothing. */
export interface ChannelSender {
  readonly channel: Channel;
  send(page: OutgoingPage): Promise<Delivery>;
  /**
   * The provider's ids of everything that may be this message, if an earlier try did get through. Others of the same
   * kind to the same address may be among them: the log knows whose they are.
   */
  listSent(page: OutgoingPage, sinceMs: number): Promise<readonly string[]>;
}
