import type { CallerVia } from '#kernel/caller.ts';
import { keysOf } from '#kernel/records.ts';
import { type Channel, CHANNELS, declarationOf, isChannel } from '#modules/contacts/decide/channel.ts';
import { CHAT_PLACES, CHAT_TITLES, type ChatPlace, isChatPlace } from '#modules/places/decide/chat_places.ts';

/** Ways in which a change comes in, besides the channels and chats. `by` follows the word "by", `title` stands alone. */
const WAYS = {
  rest: { by: 'the API', title: 'API' },
  mcp: { by: 'an agent (MCP)', title: 'MCP' },
  console: { by: 'the console', title: 'console' },
  cli: { by: 'the command line', title: 'command line' },
  scim: { by: 'the identity provider (SCIM)', title: 'SCIM' },
} as const;

const RULE = { by: 'a rule', title: 'rule' };
const ALERT = { by: 'an alert', title: 'alert' };

/** The way a change came in; it is shown in incidents and in the audit log. */
export type Via = keyof typeof WAYS | ChatPlace | Channel | 'rule' | 'alert';

export const VIAS: readonly Via[] = [...keysOf(WAYS), ...CHAT_PLACES, ...CHANNELS, 'rule', 'alert'];

export function viaTexts(via: Via): { readonly by: string; readonly title: string } {
  if (via === 'rule') return RULE;
  if (via === 'alert') return ALERT;
  if (isChatPlace(via)) {
    const title = CHAT_TITLES[via];
    return { by: title, title };
  }
  if (!isChannel(via)) return WAYS[via];
  const { by } = declarationOf(via);
  return { by, title: by };
}

/** Caller of an action, over any protocol. */
export type Caller = CallerVia<Via>;
