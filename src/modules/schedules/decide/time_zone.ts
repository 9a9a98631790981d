import { Temporal } from '#kernel/time.ts';

import { fault, ok, type Parsed, shown } from '#modules/contacts/decide/parsed.ts';

/**
 * Names that are not in the IANA database: offsets ("+02:00"), which have no daylight saving time, and SystemV names,
 * which belong to ICU.
 */
const NOT_IANA = /^([+-]|systemv\/)/i;

/**
 * Parses an IANA time-zone name in any case, and returns it in the spelling of the IANA database. Links stay what they
 * are: "asia/kolkata" is "Asia/Kolkata" and never "Asia/Calcutta".
 */
export function parseTimeZone(text: string, path: string): Parsed<string> {
  const name = findIanaName(text);
  if (name !== null) return ok(name);
  return fault(path, `${shown(text)} is not a time zone: give an IANA name, for example "Europe/Amsterdam" or "UTC"`);
}

function findIanaName(text: string): string | null {
  if (NOT_IANA.test(text)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, text).timeZoneId;
  } catch {
    return null;
  }
}
