import { keysOf } from '#kernel/records.ts';

/** Titles of the places with buttons that act for the person whose chat account is linked. */
export const CHAT_TITLES = {
  slack: 'Slack',
  mattermost: 'Mattermost',
  discord: 'Discord',
  telegram: 'Telegram',
} as const;

export type ChatPlace = keyof typeof CHAT_TITLES;

export const CHAT_PLACES: readonly ChatPlace[] = keysOf(CHAT_TITLES);

export function isChatPlace(name: string): name is ChatPlace {
  return Object.hasOwn(CHAT_TITLES, name);
}
