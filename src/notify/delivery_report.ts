import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';

/** Meaning of a status report for a delivery. */
export interface DeliveryReport {
  readonly status: Extract<NotificationStatus, 'sent' | 'delivered' | 'failed'>;
  readonly reason: string | null;
  /** The provider's own id of the message or call. */
  readonly providerId: string | null;
}
