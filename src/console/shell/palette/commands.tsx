import { useMantineColorScheme } from '@mantine/core';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import {
  IconBolt,
  IconBuilding,
  IconMoon,
  IconMoonStars,
  IconPlayerPlay,
  IconSettings,
  IconStairs,
  IconSun,
  IconUsers,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';

import { leave } from '#console/api/session.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useNavigation } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const ON_CALL_PAGES = [
  { to: '/oncall/teams', label: 'Teams', icon: IconUsers },
  { to: '/oncall/policies', label: 'Escalation policies', icon: IconStairs },
  { to: '/oncall/simulator', label: 'Simulator', icon: IconPlayerPlay },
  { to: '/oncall/load', label: 'Load on people', icon: IconMoonStars },
] as const;

/** Returns the actions that fit the text, the best first, and how well the best one does. */
function ranked<T extends { readonly label: string; readonly words?: string }>(
  text: string,
  items: readonly T[],
  toAction: (item: T) => SpotlightActionData,
): Pick<RankedGroup, 'actions' | 'fit'> {
  const fits = items.flatMap((item) => {
    const fit = rank(text, item.label, item.words);
    return fit === null ? [] : [{ fit, action: toAction(item) }];
  });
  const sorted = fits.toSorted((a, b) => a.fit - b.fit);
  return { actions: sorted.map(({ action }) => action), fit: sorted[0]?.fit ?? 0 };
}

export interface RankedGroup extends SpotlightActionGroupData {
  /** Fit of its best action to the text, smaller is better. */
  readonly fit: number;
}

export function usePages(text: string): RankedGroup {
  const navigate = useNavigate();
  const { isAdmin } = useOrganization();
  const { main, settings } = useNavigation();
  const pages = [
    ...main.map((page) => ({ ...page, about: '' })),
    ...ON_CALL_PAGES.map((page) => ({ ...page, about: 'On-call' })),
    ...settings
      .filter(({ isForAdmins }) => isAdmin || !isForAdmins)
      .map((page) => ({ ...page, icon: IconSettings, about: 'Settings' })),
  ];
  return {
    group: 'Pages',
    ...ranked(
      text,
      pages.map((page) => ({ ...page, words: `${page.about} ${PAGE_WORDS[page.to] ?? ''}` })),
      ({ to, label, about, icon: Icon }) => ({
        id: to,
        label,
        description: about === '' ? undefined : about,
        leftSection: <Icon size={18} stroke={1.75} />,
        onClick: () => void navigate({ to }),
      }),
    ),
  };
}

/** Action of somebody who puts themselves on call. */
export const PUT_ONESELF = 'Put yourself on call';

/** Returns what people often begin, for those who may. The words are those by which it is looked for besides its label. */
export function useCommands(text: string): RankedGroup {
  const navigate = useNavigate();
  const { session, org, may, isAdmin } = useOrganization();
  const onCall = may('oncall:edit')
    ? [
        {
          label: 'Declare an incident',
          words: 'create open new page call alert somebody someone',
          go: () => navigate({ to: '/incidents', hash: 'declare' }),
        },
        {
          label: 'Hand over an incident',
          words: 'reassign escalate pass on',
          go: () => navigate({ to: '/incidents' }),
        },
        {
          label: 'Put somebody on call',
          words: 'override cover replace page call',
          go: () => navigate({ to: '/oncall', hash: 'put' }),
        },
        {
          label: PUT_ONESELF,
          words: 'me myself override take over tonight swap shift cover',
          go: () => navigate({ to: '/oncall', search: { put: session.user.userId } }),
        },
        {
          label: 'New maintenance',
          words: 'start silence mute pause quiet plan',
          go: () => navigate({ to: '/rules', hash: 'maintenance' }),
        },
        { label: 'Create a rule', words: 'new alert', go: () => navigate({ to: '/rules/new' }) },
        { label: 'Create a schedule', words: 'new rotation', go: () => navigate({ to: '/oncall/schedules/new' }) },
        { label: 'Create a policy', words: 'new escalation', go: () => navigate({ to: '/oncall/policies/new' }) },
        { label: 'Create a team', words: 'new', go: () => navigate({ to: '/oncall/teams', hash: 'create' }) },
      ]
    : [];
  const commands = [
    ...onCall,
    ...(may('services:edit')
      ? [
          {
            label: 'Create a service',
            words: 'new add',
            go: () => navigate({ to: '/services', search: { create: true as const } }),
          },
          { label: 'Delete a service', words: 'remove', go: () => navigate({ to: '/services' }) },
        ]
      : []),
    ...(may('dashboards:edit')
      ? [{ label: 'Create a dashboard', words: 'new', go: () => navigate({ to: '/dashboards', hash: 'create' }) }]
      : []),
    ...(isAdmin
      ? [
          {
            label: 'Invite somebody',
            words: 'member people add create user',
            go: () => navigate({ to: '/settings/members', hash: 'invite' }),
          },
        ]
      : []),
    {
      label: 'Create an API key',
      words: 'new token',
      go: () => navigate({ to: '/settings/api-keys', hash: 'create' }),
    },
    {
      label: 'Add your phone number',
      words: 'contact sms call mobile telephone',
      go: () => navigate({ to: '/me', hash: 'phone' }),
    },
    {
      label: 'Set up your second factor',
      words: '2fa mfa totp passkey authenticator security',
      go: () => navigate({ to: '/me', hash: 'second-factor' }),
    },
    { label: 'See who is on call', words: 'now schedule rota', go: () => navigate({ to: '/oncall' }) },
    ...(org.role === 'owner'
      ? [
          {
            label: 'Export the organization',
            words: 'download everything archive backup zip data',
            go: () => navigate({ to: '/settings/general', hash: 'export' }),
          },
        ]
      : []),
    { label: 'Send yourself a test', words: 'page phone sms call push mail', go: () => navigate({ to: '/me' }) },
    { label: 'Log out', words: 'logout sign signout off', go: () => leave() },
  ];
  return {
    group: 'Actions',
    ...ranked(text, commands, ({ label, go }) => ({
      id: label,
      label,
      leftSection: <IconBolt size={18} stroke={1.75} />,
      onClick: () => void go(),
    })),
  };
}

/** Returns what can be switched to: other organizations, and the colour scheme. */
export function useSwitches(text: string): RankedGroup {
  const { session, org, switchTo } = useOrganization();
  const { setColorScheme } = useMantineColorScheme();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  const switches = [
    ...others.map(({ orgId, name }) => ({
      id: orgId,
      label: `Organization ${isolateBidi(name)}`,
      leftSection: <IconBuilding size={18} stroke={1.75} />,
      onClick: () => switchTo(orgId),
    })),
    {
      id: 'dark',
      label: 'Dark theme',
      leftSection: <IconMoon size={18} stroke={1.75} />,
      onClick: () => setColorScheme('dark'),
    },
    {
      id: 'light',
      label: 'Light theme',
      leftSection: <IconSun size={18} stroke={1.75} />,
      onClick: () => setColorScheme('light'),
    },
  ];
  const words = 'switch organization colour scheme appearance';
  return {
    group: 'Switch to',
    ...ranked(
      text,
      switches.map((action) => ({ action, label: action.label, words })),
      ({ action }) => action,
    ),
  };
}

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
