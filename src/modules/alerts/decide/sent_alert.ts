import type { AlertEvent } from './alert_event.ts';
import type { AlertEffect } from './alert_change.ts';
import type { AlertProtocolName } from '#modules/alerts/decide/tools.ts';
import type { Id } from '#kernel/ids.ts';

export interface AlertOwner {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
}

/** A protocol, and which of several tools of a service that speak it. */
export interface AlertSourceName {
  readonly protocol: AlertProtocolName;
  readonly name: string;
}

export interface SentAlert {
  readonly source: AlertSourceName;
  readonly event: AlertEvent;
}

/** One event of a source, and the service that it is about. */
export interface OwnedAlert extends SentAlert {
  readonly owner: AlertOwner;
}

export interface AlertOutcome {
  /** Null for an event about an alert that was never heard of. */
  readonly alertId: Id<'alert'> | null;
  /** The incident of the alert, open or not; null when it has none. */
  readonly incidentId: Id<'incident'> | null;
  readonly effect: AlertEffect;
}
