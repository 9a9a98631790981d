import { PAGES } from '#core/console/pages.ts';

/** The pages of on-call that each have a tab. */
export const ON_CALL_TABS = [
  { to: PAGES.onCall, label: 'On call now' },
  { to: PAGES.teams, label: 'Teams' },
  { to: PAGES.policies, label: 'Policies' },
  { to: PAGES.simulator, label: 'Simulator' },
] as const;
