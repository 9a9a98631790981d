import type { Phone } from '@tocsin/phone-simulator';

import { PHONE } from '#test/browser/chromium.ts';
import type { ConsoleWorld } from '#test/browser/console_world.ts';

/** Surroundings that all flows share. */
export interface Smoke {
  /** The console as a new organization uses it. */
  newOrganization(): Promise<ConsoleWorld>;
  readonly phones: Phone;
}

/** The profile of a phone. Every flow uses this one and the desktop's: a further one takes a second. */
export const TOUCH = { viewport: PHONE, isMobile: true, hasTouch: true } as const;
