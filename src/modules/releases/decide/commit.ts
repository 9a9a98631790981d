/** A commit of a release, as it is shown. */
export interface Commit {
  readonly id: string;
  readonly author: string | null;
  readonly message: string | null;
  /** Time in RFC 3339, or null. */
  readonly at: string | null;
}
