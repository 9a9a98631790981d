import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';
import type { OutgoingMessage } from '#notify/message.ts';

/** Result of handing a message to a provider. Reasons are our own words, never a provider's text. */
export type Delivery =
  | { readonly kind: 'accepted'; readonly providerId: string | null }
  /** Attempt that sent nothing: 429, 5xx, no connection. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** The message may have been sent: a timeout after the request had left. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** This channel will never reach this address: bad number, opted out. */
  | { readonly kind: 'rejected'; readonly reason: string };

/** A way to reach people. Senders keep no state and retry nothing. */
export interface ChannelSender {
  /** Maximum number of attempts for a message of unknown fate, before it counts as sent, unconfirmed. */
  readonly uncertainAttemptsMax: number;
  /** Loads the library that sends, so that the first message need not wait for it. */
  load(): Promise<unknown>;
  /** Sends the message once. Within `whileMayLeave`, throws HeldBackError if it may not leave any more. */
  send(outgoing: OutgoingMessage): Promise<Delivery>;
  /**
   * The provider's ids of everything that may be this message, if an earlier try did get through; none where no
   * provider can be asked. Others of the same kind to the same address may be among them: the log knows whose they are.
   */
  listSent(outgoing: OutgoingMessage, sinceMs: number): Promise<readonly string[]>;
  /** Whether what `listSent` finds has the words of the message: then it belongs to no entry about another incident. */
  readonly findsByWords?: boolean;
}

export interface DeliveryReport {
  readonly status: Extract<NotificationStatus, 'sent' | 'delivered' | 'failed'>;
  readonly reason: string | null;
  /** The provider's own id of the message or call. */
  readonly providerId: string | null;
}

/** The form of a call-back: every field once. */
export type Fields = Readonly<Record<string, string>>;

interface CallbackRequest {
  /** The public address, as configured: what a proxy or the Host header says does not count. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly fields: Fields;
}

/** Properties that the callbacks of a provider have in common. */
export interface CallbackProvider {
  /** Name of the provider in their addresses. */
  readonly name: string;
  /** Whether the provider sent this request, and for our account. */
  isAuthentic(request: CallbackRequest): Promise<boolean>;
  readonly contentType: string;
  /** The answer to a report. */
  readonly received: string;
}

/**
 * A provider's report of what became of a message: POST /api/callbacks/<provider>/<name>/<id of the message>. A channel
 * declares its reports in its folder; `entry/http/answers/callbacks.ts` answers all of them.
 */
export interface ReportCallback {
  readonly channel: Channel;
  readonly provider: CallbackProvider;
  readonly name: string;
  /** Returns the delivery report; null if it changes nothing. */
  reportOf(fields: Fields): DeliveryReport | null;
  /** The provider's id of the call that this report ends: what is asked in its name later is a replay. */
  endedCallOf?(fields: Fields): string | null;
}
