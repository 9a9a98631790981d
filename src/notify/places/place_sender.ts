import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import type { MessageReference, PlaceContent } from '#modules/places/decide/place_content.ts';
import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import type { PlaceHttp } from '#notify/places/exchange.ts';
import { optionalUrl, type ValuesOf } from '#kernel/config.ts';

const baseOf = (variable: string, vendor: string, fallback: string) =>
  optionalUrl(variable, ['http', 'https'], `another address for ${vendor}'s API`, { unset: `\`${fallback}\`` });

const PUBLIC = {
  slack: 'https://slack.com/api',
  discord: 'https://discord.com/api/v10',
  telegram: 'https://api.telegram.org',
} as const;

/** Settings with the addresses of vendors. */
export const PLACE_SETTINGS = {
  slackApiBase: baseOf('SLACK_API_BASE', 'Slack', PUBLIC.slack),
  discordApiBase: baseOf('DISCORD_API_BASE', 'Discord', PUBLIC.discord),
  telegramApiBase: baseOf('TELEGRAM_API_BASE', 'Telegram', PUBLIC.telegram),
};

/** Address of each vendor's API, without a slash at its end. */
export type PlaceBases = Readonly<Record<keyof typeof PUBLIC, string>>;

export function placeBasesOf(settings: ValuesOf<typeof PLACE_SETTINGS>): PlaceBases {
  const { slackApiBase: slack, discordApiBase: discord, telegramApiBase: telegram } = settings;
  return {
    slack: withoutSlash(slack ?? PUBLIC.slack),
    discord: withoutSlash(discord ?? PUBLIC.discord),
    telegram: withoutSlash(telegram ?? PUBLIC.telegram),
  };
}

function withoutSlash(base: string): string {
  return base.replace(/\/+$/, '');
}

export interface PlaceMessage {
  readonly content: PlaceContent;
  readonly settings: PlaceSettings;
  /** The message of this incident that is there already; null for none. */
  readonly reference: MessageReference | null;
  /** Id of the delivery, the same for each attempt. */
  readonly deliveryId: string;
  /** Ascends with the events of an incident. */
  readonly sequence: number;
  /** Body of an earlier attempt; null before the first. */
  readonly earlierBody: string | null;
  /** Address to which the vendor sends presses. */
  readonly answersUrl: string;
  /** Time of this attempt. */
  readonly nowMs: number;
}

/** A way to announce incidents. Senders keep no state and retry nothing. */
export interface PlaceSender {
  send(message: PlaceMessage): Promise<PlaceOutcome>;
}

/** Dependencies of senders. */
export interface PlaceSenderContext {
  readonly http: PlaceHttp;
  /** Address of the API of each vendor. */
  readonly bases: PlaceBases;
}
