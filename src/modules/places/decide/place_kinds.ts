import { keysOf } from '#kernel/records.ts';
import { CHAT_TITLES } from '#modules/places/decide/chat_places.ts';

/** Setting of a place, which people type. */
export interface PlaceField {
  readonly label: string;
  readonly help: string;
  /** Secrets are stored encrypted and never shown again. */
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly check: 'address' | 'text';
}

/** Declaration of a kind of place without its sender, which is in `notify/places`. */
interface PlaceDeclaration {
  readonly title: string;
  /** Whether only the newest state of an incident is sent; otherwise each event is a message. */
  readonly sendsNewest: boolean;
  /** Whether the vendor sends presses or commands to an address of the place. */
  readonly hasAnswers: boolean;
  readonly fields: Readonly<Partial<Record<PlaceFieldName, PlaceField>>>;
}

export type PlaceFieldName = 'address' | 'channel' | 'token' | 'signingSecret' | 'publicKey';

export type PlaceSettings = Readonly<Partial<Record<PlaceFieldName, string>>>;

const field = (label: string, help: string, more: Partial<PlaceField> = {}): PlaceField => {
  return { label, help, isSecret: false, isRequired: true, check: 'text', ...more };
};

const secret = (label: string, help: string): PlaceField => field(label, help, { isSecret: true });

/** Kinds of places, in the order in which they are shown. */
const PLACE_DECLARATIONS = {
  slack: {
    title: CHAT_TITLES.slack,
    sendsNewest: true,
    hasAnswers: true,
    fields: {
      channel: field('Channel', 'ID of the channel, as C0123456789'),
      token: secret('Bot token', 'begins with xoxb-'),
      signingSecret: secret('Signing secret', 'of the app, below Basic Information'),
    },
  },
  teams: {
    title: 'Microsoft Teams',
    sendsNewest: true,
    hasAnswers: false,
    fields: {
      address: field('Workflow address', 'what the workflow shows when it is saved', {
        isSecret: true,
        check: 'address',
      }),
    },
  },
  mattermost: {
    title: CHAT_TITLES.mattermost,
    sendsNewest: true,
    hasAnswers: true,
    fields: {
      address: field('Server', 'as https://chat.example.com', { check: 'address' }),
      channel: field('Channel', 'ID of the channel: 26 letters and digits'),
      token: secret('Bot token', 'access token of the bot account'),
      signingSecret: field('Command token', 'token of the slash command /oncall, if there is one', {
        isSecret: true,
        isRequired: false,
      }),
    },
  },
  discord: {
    title: CHAT_TITLES.discord,
    sendsNewest: true,
    hasAnswers: true,
    fields: {
      channel: field('Channel', 'ID of the channel'),
      token: secret('Bot token', 'of the application, below Bot'),
      publicKey: field('Public key', 'of the application: 64 hexadecimal digits'),
    },
  },
  telegram: {
    title: CHAT_TITLES.telegram,
    sendsNewest: true,
    hasAnswers: true,
    fields: {
      channel: field('Chat', 'ID of the chat, as -1001234567890'),
      token: secret('Bot token', 'from @BotFather'),
      signingSecret: secret('Secret token', 'the secret_token that you give setWebhook'),
    },
  },
  ntfy: {
    title: 'ntfy',
    sendsNewest: true,
    hasAnswers: false,
    fields: {
      address: field('Server', 'as https://ntfy.sh', { check: 'address' }),
      channel: secret('Topic', 'whoever knows the topic of a public server can read it'),
      token: field('Access token', 'begins with tk_; left empty for a topic that anybody may write to', {
        isSecret: true,
        isRequired: false,
      }),
    },
  },
  webhook: {
    title: 'Webhook',
    sendsNewest: false,
    hasAnswers: false,
    fields: {
      address: field('Address', 'https address that takes the messages', { isSecret: true, check: 'address' }),
      signingSecret: field('Signing secret', 'begins with whsec_; left empty, one is made and shown once', {
        isSecret: true,
        isRequired: false,
      }),
    },
  },
} as const satisfies Readonly<Record<string, PlaceDeclaration>>;

export type PlaceKind = keyof typeof PLACE_DECLARATIONS;

export const PLACE_KINDS = keysOf(PLACE_DECLARATIONS);

export function placeDeclarationOf(kind: PlaceKind): PlaceDeclaration {
  return PLACE_DECLARATIONS[kind];
}

/** Path below which vendors send presses and commands. */
export const PLACES_PATH = '/api/places';

/** Returns the address to which the vendor of a place sends presses and commands. */
export function answersUrlOf(baseUrl: string, { id, kind }: { readonly id: string; readonly kind: PlaceKind }): string {
  return `${baseUrl}${PLACES_PATH}/${id}/${kind}`;
}

export const PLACES_MAX = 50;
