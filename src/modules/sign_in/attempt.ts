import type { Id } from '#kernel/ids.ts';

/** Kind of the records of sign-ins that are under way, among those of the authorization server, which expire alike. */
export const ATTEMPT_KIND = 'ProviderSignIn';

/** A sign-in that was begun. Nothing in it completes one: the keys are derived from what the browser holds. */
export interface Attempt {
  readonly orgId: Id<'org'>;
  readonly issuer: string;
  readonly clientId: string;
  readonly browserHash: string;
  /** Page of the console to show afterwards. */
  readonly next: string;
  /** Network whose tries were counted. */
  readonly network: string;
}

/** Key of the tries of a network. */
export const triesOf = (network: string): string => `provider:${network}`;
