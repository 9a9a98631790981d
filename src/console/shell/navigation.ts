import type { Icon } from '@tabler/icons-react';
import { createContext, useContext } from 'react';

import type { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';

type Page = (typeof PAGES)[keyof typeof PAGES];
type SettingsPage = `${typeof PAGES.settings}${(typeof SETTINGS_PAGES)[keyof typeof SETTINGS_PAGES]}`;

/** Address of a page that needs no id. */
export type FixedPath = Exclude<Page, `${string}$${string}`> | SettingsPage;

/** Page that every page links to. */
export interface NavigationEntry {
  readonly to: FixedPath;
  readonly label: string;
  readonly icon: Icon;
  /** Letter after `g`. A letter that acts on a page (a, r, u, x, j, k) is not used: typed too slowly, it would act. */
  readonly key: string;
  /** Group, whose entries stand together. */
  readonly group: 'respond' | 'watch' | 'own';
  /** Whether it is in the bar at the bottom of a phone, which holds four; the others are behind More. */
  readonly isInBar: boolean;
}

/** Page of the settings. */
export interface SettingsEntry {
  readonly to: SettingsPage;
  readonly label: string;
  readonly icon: Icon;
  readonly isForAdmins: boolean;
}

interface Navigation {
  readonly main: readonly NavigationEntry[];
  readonly settings: readonly SettingsEntry[];
}

/** Context of the navigation, provided by the router, which declares the pages. */
export const NavigationContext = createContext<Navigation>({ main: [], settings: [] });

export const useNavigation = (): Navigation => useContext(NavigationContext);
