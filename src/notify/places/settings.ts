import { optionalUrl, type ValuesOf } from '#kernel/config.ts';

/** Settings with the addresses of vendors. */
export const PLACE_SETTINGS = {
  slackApiBase: optionalUrl('SLACK_API_BASE', ['http', 'https'], "another address for Slack's API", {
    unset: '`https://slack.com/api`',
  }),
};

export type PlaceBases = { readonly slack: string };

/** Returns the address of each vendor's API, without a slash at its end. */
export function placeBasesOf({ slackApiBase = 'https://slack.com/api' }: ValuesOf<typeof PLACE_SETTINGS>): PlaceBases {
  return { slack: slackApiBase.replace(/\/+$/, '') };
}
