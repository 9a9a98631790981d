import type { Icon } from '@tabler/icons-react';
import { createContext, useContext } from 'react';

import type { PAGES, SETTINGS_PAGES } from '#core/console/pages.ts';

type Page = (typeof PAGES)[keyof typeof PAGES];
type SettingsPage = `${typeof PAGES.settings}${(typeof SETTINGS_PAGES)[keyof typeof SETTINGS_PAGES]}`;

/** The address of a page that needs no id. */
export type FixedPath = Exclude<Page, `${string}$${string}`> | SettingsPage;

/** A page that every page links to. */
export interface NavigationEntry {
  readonly to: FixedPath;
  readonly label: string;
  readonly icon: Icon;
  /** The letter after `g`. One that acts on a page (a, r, u, x, j, k) is never taken: typed too slowly, it would act. */
  readonly key: string;
  /** Entries of a group stand together. */
  readonly group: 'respond' | 'watch' | 'own';
  /** Whether it is in the bar at the bottom of a phone, which holds four; the others are behind More. */
  readonly isInBar: boolean;
}

/** A page of the settings. */
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

/** The router, which declares the pages, provides it. */
export const NavigationContext = createContext<Navigation>({ main: [], settings: [] });

export const useNavigation = (): Navigation => useContext(NavigationContext);
