import { keysOf } from '#kernel/keys_of.ts';

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
  /** Whether the message of an incident is changed in place; otherwise each event is a message. */
  readonly updates: boolean;
  /** Whether the vendor sends presses or commands to an address of the place. */
  readonly hasAnswers: boolean;
  readonly fields: Readonly<Partial<Record<PlaceFieldName, PlaceField>>>;
}

export const PLACE_FIELD_NAMES = ['address', 'token', 'signingSecret', 'channel'] as const;

export type PlaceFieldName = (typeof PLACE_FIELD_NAMES)[number];

/** Settings of a place, by field. */
export type PlaceSettings = Readonly<Partial<Record<PlaceFieldName, string>>>;

const field = (label: string, help: string, more: Partial<PlaceField> = {}): PlaceField => {
  return { label, help, isSecret: false, isRequired: true, check: 'text', ...more };
};

const secret = (label: string, help: string): PlaceField => field(label, help, { isSecret: true });

/** Kinds of places, in the order in which they are shown. */
export const PLACE_DECLARATIONS = {
  slack: {
    title: 'Slack',
    updates: true,
    hasAnswers: true,
    fields: {
      channel: field('Channel', 'ID of the channel, as C0123456789'),
      token: secret('Bot token', 'begins with xoxb-'),
      signingSecret: secret('Signing secret', 'of the app, below Basic Information'),
    },
  },
  webhook: {
    title: 'Webhook',
    updates: false,
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

/** Places with buttons that act for the person whose chat account is linked. */
export const CHAT_PLACES = ['slack'] as const satisfies readonly PlaceKind[];

export type ChatPlace = (typeof CHAT_PLACES)[number];

/** Path below which vendors send presses and commands. */
export const PLACES_PATH = '/api/places';

/** Places that an organization may have. */
export const PLACES_MAX = 50;
