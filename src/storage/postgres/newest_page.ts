import type { Id, Kind } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';

/** A page of a list that is newest first: so many behind the given place, or from the newest on; null: all of them. */
export interface NewestPage<K extends Kind> {
  readonly after: { readonly at: Temporal.Instant; readonly id: Id<K> } | null;
  readonly limit: number | null;
}
