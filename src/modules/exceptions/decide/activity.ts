import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';
import type { SnoozeEnd } from '#modules/exceptions/decide/snooze.ts';

export const COMMENTS_MAX = 500;

/** An entry in the history of a group. Times are RFC 3339 texts. */
export type ActivityFacts =
  | { readonly kind: 'comment' }
  | { readonly kind: 'status'; readonly before: GroupStatus; readonly after: GroupStatus; readonly fixedIn?: FixedIn }
  | {
      readonly kind: 'snoozed';
      readonly until: string | null;
      readonly events: number | null;
      readonly users: number | null;
    }
  | {
      readonly kind: 'snooze_ended';
      readonly because: SnoozeEnd;
      /** Events since it was snoozed, and users that they concern; null where nobody counted. */
      readonly events: number | null;
      readonly users: number | null;
    }
  | {
      readonly kind: 'assigned';
      /** Id of a person or a team; null for nobody. */
      readonly assigneeId: string | null;
      /** Name of the person or team at that time. */
      readonly name: string | null;
      /** Position of the assignment rule that decided; absent when a person or program did. */
      readonly rule?: number;
    }
  | { readonly kind: 'regressed'; readonly release: string | null }
  | { readonly kind: 'merged'; readonly groups: number }
  | { readonly kind: 'merged_into'; readonly groupId: string }
  | { readonly kind: 'split_off'; readonly groupId: string }
  | { readonly kind: 'issue'; readonly url: string | null };

/** Release of a fix: the named one, or the next one after it. */
interface FixedIn {
  readonly release: string;
  readonly isNext: boolean;
}
