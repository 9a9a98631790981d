import type { OutgoingMessage } from '#notify/message.ts';

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
  /** No call to `send` takes longer. */
  readonly timeoutMs: number;
  /** How often in all a message is sent whose fate stays unknown, before it counts as sent, unconfirmed. */
  readonly uncertainAttemptsMax: number;
  /** Loads the library that sends, so that the first message need not wait for it. */
  load(): Promise<unknown>;
  send(outgoing: OutgoingMessage): Promise<Delivery>;
  /**
   * The provider's ids of everything that may be this message, if an earlier try did get through; none where no
   * provider can be asked. Others of the same kind to the same address may be among them: the log knows whose they are.
   */
  listSent(outgoing: OutgoingMessage, sinceMs: number): Promise<readonly string[]>;
  /** Whether what `listSent` finds has the words of the message: then it belongs to no entry about another incident. */
  readonly findsByWords?: boolean;
}
