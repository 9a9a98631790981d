import type { PlaceKind } from '#modules/places/decide/place_kinds.ts';
import { discordSender } from '#notify/places/discord/sender.ts';
import { mattermostSender } from '#notify/places/mattermost/sender.ts';
import { ntfySender } from '#notify/places/ntfy/sender.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { slackSender } from '#notify/places/slack/sender.ts';
import { teamsSender } from '#notify/places/teams/sender.ts';
import { telegramSender } from '#notify/places/telegram/sender.ts';
import { webhookSender } from '#notify/places/webhook/sender.ts';

/** The sender of each kind of place. */
export type PlaceSenders = Readonly<Record<PlaceKind, PlaceSender>>;

export function createPlaceSenders(context: PlaceSenderContext): PlaceSenders {
  return {
    slack: slackSender(context),
    teams: teamsSender(context),
    mattermost: mattermostSender(context),
    discord: discordSender(context),
    telegram: telegramSender(context),
    ntfy: ntfySender(context),
    webhook: webhookSender(context),
  };
}
