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
