import { readFileSync } from 'node:fs';

/** Files in which Debian, Alpine, Red Hat and macOS give their release of the time zone database. */
const SOURCES = [
  ['/usr/share/zoneinfo/tzdata.zi', /^# version (\d{4}[a-z]{1,2})\b/],
  ['/usr/share/zoneinfo/+VERSION', /^(\d{4}[a-z]{1,2})\b/],
  ['/usr/share/zoneinfo/version', /^(\d{4}[a-z]{1,2})\b/],
] as const;

/** Releases of the IANA time zone database, such as `2026c`. */
export interface TimeZoneRules {
  /** Release in Node, by which rotations and maintenance are computed. */
  readonly used: string;
  /** Release of this machine; null if it does not say. */
  readonly machine: string | null;
}

export function readTimeZoneRules(): TimeZoneRules {
  return { used: process.versions['tz'] ?? 'unknown', machine: readMachine() };
}

/** Returns what is wrong and what to do, if the machine knows newer rules than Node; else null. */
export function findOldRules({ used, machine }: TimeZoneRules): string | null {
  if (machine === null || machine <= used) return null;
  return `time zone rules are of release ${used}, and this machine has ${machine}: hand-overs in zones that changed since may be wrong by an hour. Upgrade to a release of Tocsin with newer rules, or start it on a Node that has them`;
}

function readMachine(): string | null {
  for (const [file, pattern] of SOURCES) {
    try {
      const version = pattern.exec(readFileSync(file, 'latin1').slice(0, 100))?.[1];
      if (version !== undefined) return version;
    } catch {
      // Other systems have other files of the list.
    }
  }
  return null;
}
