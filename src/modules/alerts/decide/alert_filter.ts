import type { Level } from '#modules/exceptions/decide/level.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { Temporal } from '#kernel/time.ts';

/** Texts of an alert in which a filter looks. */
export type FilterText = 'title' | 'key' | 'tool' | 'entity' | 'description';

export type FilterTime = 'firstSeenAt' | 'lastSeenAt';

export type Comparison = '=' | '<' | '<=' | '>' | '>=';

export type AlertFilter =
  | { readonly kind: 'all'; readonly of: readonly AlertFilter[] }
  | { readonly kind: 'any'; readonly of: readonly AlertFilter[] }
  | { readonly kind: 'not'; readonly of: AlertFilter }
  | { readonly kind: 'status'; readonly among: readonly IncidentStatus[] }
  | { readonly kind: 'severity'; readonly among: readonly Level[] }
  | { readonly kind: 'id'; readonly id: string }
  /** Compares without regard to case; `*` stands for any characters. */
  | { readonly kind: 'text'; readonly field: FilterText; readonly pattern: string; readonly isWhole: boolean }
  | { readonly kind: 'tag'; readonly pattern: string }
  | { readonly kind: 'time'; readonly field: FilterTime; readonly is: Comparison; readonly at: Temporal.Instant }
  | { readonly kind: 'occurrences'; readonly is: Comparison; readonly count: number };

export const ALERT_ORDERS = ['firstSeenAt', 'lastSeenAt', 'key', 'title', 'status', 'occurrences', 'id'] as const;

export type AlertOrder = (typeof ALERT_ORDERS)[number];

/** A page of the alerts of a service that one protocol brought. */
export interface AlertListWanted {
  /** Null for all. */
  readonly filter: AlertFilter | null;
  readonly order: AlertOrder;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
}
