import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';

/** Meaning of a status report for a delivery. */
export interface DeliveryReport {
  readonly status: Extract<NotificationStatus, 'sent' | 'delivered' | 'failed'>;
  readonly reason: string | null;
  /** The provider's own id of the message or call. */
  readonly providerId: string | null;
}

/** The form of a call-back: every field once. */
export type Fields = Readonly<Record<string, string>>;

export interface CallbackRequest {
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
