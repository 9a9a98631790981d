import { readSettings } from '#kernel/config.ts';
import { LIMIT_SETTINGS, type Limits } from '#kernel/limit_settings.ts';

/** The limits of an installation that sets none. */
export const DEFAULT_LIMITS: Limits = readSettings(LIMIT_SETTINGS, {});
