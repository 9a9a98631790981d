import type { PlaceKind } from '#modules/places/decide/place_kinds.ts';
import { discordSender } from '#notify/places/discord.ts';
import { mattermostSender } from '#notify/places/mattermost.ts';
import { ntfySender } from '#notify/places/ntfy.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { slackSender } from '#notify/places/slack.ts';
import { teamsSender } from '#notify/places/teams.ts';
import { telegramSender } from '#notify/places/telegram.ts';
import { webhookSender } from '#notify/places/webhook.ts';

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
