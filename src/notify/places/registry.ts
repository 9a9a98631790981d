import type { PlaceKind } from '#modules/places/decide/place_kinds.ts';
import type { PlaceSender, PlaceSenderContext } from '#notify/places/place_sender.ts';
import { slackSender } from '#notify/places/slack/sender.ts';
import { webhookSender } from '#notify/places/webhook/sender.ts';

/** The sender of each kind of place. */
export type PlaceSenders = Readonly<Record<PlaceKind, PlaceSender>>;

export function createPlaceSenders(context: PlaceSenderContext): PlaceSenders {
  return { slack: slackSender(context), webhook: webhookSender(context) };
}
