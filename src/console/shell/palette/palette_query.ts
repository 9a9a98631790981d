/** Action that somebody asks for, by the first word that they typed. */
export type Verb = 'put' | 'acknowledge' | 'resolve' | 'silence';

/** Parts of what somebody typed into the palette. */
export interface PaletteQuery {
  /** Words that name what is looked for. */
  readonly text: string;
  /** Action to take with it; null to open it. */
  readonly verb: Verb | null;
}

const PUT = /^\s*(?:put|page|call)\s+(.+?)(?:\s+on(?:\s*-?\s*call?(?:\s.*)?)?)?\s*$/i;

/** First words of the other verbs. Of a long one, its beginning or one wrong letter are enough. */
const VERBS: Readonly<Record<string, Verb>> = {
  ack: 'acknowledge',
  acknowledge: 'acknowledge',
  resolve: 'resolve',
  silence: 'silence',
  mute: 'silence',
};

/** Words close to a verb that name a status. */
const STATUSES = new Set(['acknowledged', 'resolved', 'silenced', 'muted']);

/** Letters of a verb that are unlikely to begin anything else. */
const VERB_BEGIN_MIN = 5;

/** Whether the text of `put … on call` is the person who types it. */
export const isOneself = (text: string): boolean => /^(?:me|myself|yourself)$/i.test(text.trim());

/** Whether somebody typed a whole verb that answers incidents, and does not look for a name that is like it. */
export const isAnswerVerb = (typed: string): boolean => /^\s*(?:ack|acknowledge|resolve)(?:\s|$)/i.test(typed);

/** Reads what somebody typed: "put Dana on call" looks for Dana, and "acknowledge 12" for the incident. */
export function readPaletteQuery(typed: string): PaletteQuery {
  const put = PUT.exec(typed);
  if (put !== null) return { text: put[1] ?? '', verb: 'put' };
  const text = typed.trim();
  const [first = '', ...rest] = text.split(/\s+/);
  const verb = findVerb(first.toLowerCase());
  return verb === null ? { text, verb } : { text: rest.join(' '), verb };
}

function findVerb(word: string): Verb | null {
  if (STATUSES.has(word)) return null;
  const exact = VERBS[word];
  if (exact !== undefined) return exact;
  if (word.length < VERB_BEGIN_MIN) return null;
  const close = Object.keys(VERBS).find(
    (name) => name.length >= VERB_BEGIN_MIN && (name.startsWith(word) || isOneLetterOff(word, name)),
  );
  return close === undefined ? null : (VERBS[close] ?? null);
}

/** Words by which a page is looked for besides its label: what is set there, and what others call it. */
export const PAGE_WORDS: Readonly<Record<string, string>> = {
  '/settings/members': 'roles permissions people users invitations',
  '/settings/sign-in':
    'login password sso single sign-on saml oidc openid mail domains networks sessions second factor 2fa',
  '/settings/provisioning': 'scim groups identity provider okta entra',
  '/settings/api-keys': 'tokens',
  '/settings/apps': 'oauth mcp',
  '/settings/agents': 'assistants mcp limits responders',
  '/settings/integrations': 'issue trackers github gitlab jira traces configuration files terraform mcp',
  '/settings/places': 'slack microsoft teams mattermost discord telegram ntfy',
  '/settings/delivery': 'sms twilio calls mail smtp push time zones',
  '/settings/general': 'organization name rename export',
  '/settings/audit': 'history changes streams siem',
  '/settings/billing': 'prices costs invoices capabilities',
  '/settings/move-in': 'pagerduty opsgenie grafana sentry migrate shadow',
  '/explore': 'graphs charts',
  '/oncall': 'rota shifts calendar holidays',
  '/me': 'account profile password phone numbers devices theme calendar',
};

/** Fits of a text to a search, the best first. */
const FITS = { beginning: 0, title: 1, words: 2, typo: 3 } as const;

/** Length from which a word may have a wrong letter. */
const TYPO_MIN = 4;

/**
 * Returns how well a thing fits the search, smaller is better; null if a word of the search begins none of its words. Its
 * title comes before the words by which it is looked for besides, and both before a typo of one letter.
 */
export function rank(search: string, title: string, words = ''): number | null {
  const wanted = wordsOf(search);
  const inTitle = wordsOf(title);
  const all = [...inTitle, ...wordsOf(words)];
  if (wanted.join(' ') === '' || inTitle.join(' ').startsWith(wanted.join(' '))) return FITS.beginning;
  const begins = (texts: readonly string[], word: string) => texts.some((text) => text.startsWith(word));
  if (wanted.every((word) => begins(inTitle, word))) return FITS.title;
  if (wanted.every((word) => begins(all, word))) return FITS.words;
  const isClose = (word: string) =>
    begins(all, word) || (word.length >= TYPO_MIN && all.some((text) => isOneLetterOff(word, text)));
  return wanted.every((word) => isClose(word)) ? FITS.typo : null;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s/-]+/)
    .filter((word) => word !== '');
}

/** Whether the word is the text but for one letter that is missing, added, another, or swapped with the next. */
export function isOneLetterOff(word: string, text: string): boolean {
  if (Math.abs(word.length - text.length) > 1) return false;
  let same = 0;
  while (same < word.length && word[same] === text[same]) same += 1;
  const rest = word.slice(same);
  const meant = text.slice(same);
  return (
    rest.slice(1) === meant.slice(1) ||
    rest.slice(1) === meant ||
    rest === meant.slice(1) ||
    (rest.slice(2) === meant.slice(2) && rest[0] === meant[1] && rest[1] === meant[0])
  );
}
