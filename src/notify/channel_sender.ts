import type { OutgoingMessage } from '#notify/message.ts';

/** Result of handing a message to a provider. Reasons are our own words, never a provider's text. */
export type Delivery =
  | { readonly kind: 'accepted'; readonly providerId: string | null }
  /** Nothing was sent: 429, 5xx, no connection. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** The message may have been sent: a timeout after the request had left. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** This channel will never reach this address: bad number, opted out. */
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. Senders keep no state and retry nothing. */
export interface ChannelSender {
  /** Longest duration of a call to `send`. */
  readonly timeoutMs: number;
  /** Maximum number of attempts for a message of unknown fate, before it counts as sent, unconfirmed. */
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
