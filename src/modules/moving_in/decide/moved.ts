import { createHash } from 'node:crypto';

import { FAR_FUTURE } from '#kernel/time.ts';
import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock, ZoneClocks } from '#kernel/zone_clock.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import type {
  ConfigurationFile,
  MaintenanceInFile,
  PersonInFile,
  PolicyInFile,
  RoutesInFile,
  RuleInFile,
  ScheduleInFile,
  ServiceInFile,
  TeamMemberInFile,
} from '#modules/configuration/decide/file.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { Ledger } from './ledger.ts';
import { WEEK_MINUTES, type WeekSpan } from './pattern.ts';
import type { Stretch } from './timeline.ts';

/** A tool that people move in from: the prefix of the keys, and its name. */
export interface Tool {
  readonly prefix: string;
  readonly title: string;
}

/** Times of one reading, in milliseconds. */
export interface ReadingTime {
  readonly now: number;
  /** Beginning of the proof, where the caller chose it. */
  readonly proofFrom: number | null;
}

/** A timeline that the other tool rendered, `[from, to)`. */
export interface RenderedTimeline {
  readonly from: number;
  readonly to: number;
  readonly stretches: readonly Stretch[];
}

/** A schedule of the file with what the other tool says of it. */
export interface ScheduleToProve {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly rendered: readonly RenderedTimeline[];
  /** Tells who is on call there by the rules of its documentation. */
  readonly walk: (from: number, to: number) => readonly Stretch[];
  /** Overrides that found no place. */
  readonly refused: readonly { readonly name: string; readonly from: number; readonly to: number }[];
  readonly horizon: number | null;
}

export interface ReadPerson {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: PersonInFile['role'];
  readonly zone: string;
  readonly phones: readonly string[];
  /** Channels that their own rules use; null: not known, so all are on. */
  readonly channels: ReadonlySet<Channel> | null;
}

export type Channel = 'sms' | 'call' | 'push' | 'email';

export const CHANNELS: readonly Channel[] = ['sms', 'call', 'push', 'email'];

interface Team {
  readonly key: string;
  readonly name: string;
  readonly members: Map<string, TeamMemberInFile>;
}

/** The configuration file that grows out of one reading, and the ledger of what was read. */
export class Moved {
  readonly tool: Tool;
  readonly time: ReadingTime;
  readonly ledger = new Ledger();
  readonly clocks = new ZoneClocks();
  readonly proofs: ScheduleToProve[] = [];
  readonly schedules = new Map<string, ScheduleInFile>();
  readonly policies = new Map<string, PolicyInFile>();
  readonly services = new Map<string, ServiceInFile>();
  readonly rules: RuleInFile[] = [];
  readonly routes: RoutesInFile[] = [];
  readonly maintenance: MaintenanceInFile[] = [];
  /** Names by the key of the person, also of those who are not in the file. */
  readonly names = new Map<string, string>();
  readonly #people = new Map<string, PersonInFile>();
  readonly #channels = new Map<string, ReadonlySet<Channel>>();
  /** Keys of people by their id and by their address. */
  readonly #keys = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  readonly #teams = new Map<string, Team>();

  constructor(tool: Tool, time: ReadingTime) {
    this.tool = tool;
    this.time = time;
  }

  /** Beginning of the time that matters: of today, or of the proof where that is earlier. */
  get since(): number {
    const today = Math.floor(this.time.now / DAY_MS) * DAY_MS;
    return Math.min(today, this.time.proofFrom ?? today);
  }

  key(id: string): string {
    return keyInFile(this.tool.prefix, id);
  }

  /** Adds a person. One with the address of another is that other: whatever names the second reaches the first. */
  addPerson(person: ReadPerson): void {
    const { id, name, email } = person;
    const user = this.ledger.see('user', id, name);
    const address = email.trim().toLowerCase();
    const key = this.key(id);
    this.names.set(key, name === '' ? email : name);
    if (this.#keys.has(id)) return;
    if (!/^[^\s@]+@[^\s@]+$/.test(address) || address.length > 320) {
      const todo = `Give them an address in ${this.tool.title}, and read again.`;
      user.refuse('There is no mail address, and people sign in with one.', todo);
      return;
    }
    const other = this.#addresses.get(address);
    if (other !== undefined) {
      this.#keys.set(id, other);
      const reason = `${email} is the address of ${this.names.get(other) ?? 'somebody else'}, too; whatever names either reaches the one account.`;
      user.refuse(reason, 'If they are two people, give one of them another address, and read again.');
      return;
    }
    this.#addresses.set(address, key);
    this.#keys.set(id, key);
    const zone = person.zone !== '' && isZone(person.zone) ? person.zone : null;
    const isZoneKnown = person.zone === '' || zone !== null;
    this.#people.set(key, {
      key,
      name: nameInFile(name, email),
      email: address,
      ...(person.role !== undefined && { role: person.role }),
      ...(zone !== null && { timezone: zone }),
      ...(person.phones.length > 0 && { phones: [...new Set(person.phones)].slice(0, 10) }),
    });
    if (person.channels !== null) this.#channels.set(key, person.channels);
    const reason = isZoneKnown ? '' : `Nobody knows the time zone "${person.zone}"; it is left out.`;
    user.judge(
      isZoneKnown ? 'exact' : 'compiled',
      reason,
      isZoneKnown ? '' : 'Let them choose their zone on the page Me.',
    );
  }

  /** Gives another name to a person, for example the address that other answers name them by. */
  alias(other: string, id: string): void {
    const key = this.#keys.get(id);
    if (key !== undefined && other !== '') this.#keys.set(other, key);
  }

  /** Returns the key of a person of the file by their id; null for one who was not read. */
  person(id: string): string | null {
    return this.#keys.get(id) ?? null;
  }

  /** Returns the key of a person, of one who was not read another that no person of the file has. */
  personOrUnknown(id: string, name: string): string {
    const key = this.#keys.get(id);
    if (key !== undefined) return key;
    const unknown = `unknown ${id}`;
    this.names.set(unknown, name === '' ? id : name);
    return unknown;
  }

  /** The keys of the people of the file. */
  get people(): { has(key: string): boolean } {
    return this.#people;
  }

  addTeam(id: string, name: string): void {
    this.ledger.see('team', id, name).judge('exact');
    if (!this.#teams.has(id)) {
      this.#teams.set(id, { key: this.key(id), name: nameInFile(name, id), members: new Map() });
    }
  }

  teamKey(id: string): string | null {
    return this.#teams.get(id)?.key ?? null;
  }

  membersOf(id: string): string[] {
    return [...(this.#teams.get(id)?.members.keys() ?? [])];
  }

  /** Adds a person of the file to a team of the file. */
  join(teamId: string, personKey: string): void {
    const team = this.#teams.get(teamId);
    if (team === undefined || team.members.has(personKey)) return;
    const channels = this.#channels.get(personKey);
    const off = channels === undefined ? [] : CHANNELS.filter((channel) => !channels.has(channel));
    team.members.set(personKey, { person: personKey, ...Object.fromEntries(off.map((channel) => [channel, false])) });
  }

  /** Adds a member that the other tool names. */
  addMember(teamId: string, userId: string, name: string): void {
    const id = `${teamId}/${userId}`;
    const teamMember = this.ledger.see('team_member', id, name);
    const key = this.person(userId);
    if (key === null) {
      const todo = `Read the people of ${this.tool.title} completely, or invite them here.`;
      teamMember.refuse('They are not among the people that were read.', todo);
    } else if (this.#teams.has(teamId)) {
      this.join(teamId, key);
      teamMember.judge('exact');
    } else {
      teamMember.refuse('Their team is not among those that were read.', 'Read all teams.');
    }
  }

  /** Returns the id of the team that something belongs to; where none of them was read, one for everything else. */
  teamFor(teamIds: readonly string[]): string {
    const teamId = teamIds.find((id) => this.#teams.has(id));
    if (teamId !== undefined) return teamId;
    if (!this.#teams.has('')) {
      this.#teams.set('', {
        key: this.key('everything-else'),
        name: `${this.tool.title}: without a team`,
        members: new Map(),
      });
    }
    return '';
  }

  teamKeyFor(teamIds: readonly string[]): string {
    const team = this.#teams.get(this.teamFor(teamIds));
    if (team === undefined) throw new Error('a team that was just made is missing');
    return team.key;
  }

  clock(zone: string): ZoneClock {
    return this.clocks.of(zone);
  }

  /** Returns the file. Lists that nothing came into are left out. */
  file(): ConfigurationFile {
    const teams = [...this.#teams.values()].map(({ key, name, members }) => ({
      key,
      name,
      members: [...members.values()],
    }));
    const lists = {
      people: [...this.#people.values()],
      teams,
      schedules: [...this.schedules.values()],
      policies: [...this.policies.values()],
      services: [...this.services.values()],
      rules: this.rules,
      routes: this.routes,
      maintenance: this.maintenance,
    };
    return { version: 1, ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)) };
  }
}

/** Whether this is the IANA name of a time zone, by the rule of schedules. */
export function isZone(name: string): boolean {
  return parseTimeZone(name, '').kind === 'ok';
}

const KEY_LENGTH_MAX = 100;
const NAME_LENGTH_MAX = 500;
const DAY_MINUTES = 24 * 60;

/** Returns a key of the file for an id of another tool, the same at each reading, and for each id another. */
export function keyInFile(tool: string, id: string): string {
  const key = `${tool}-${id}`;
  if (key.length <= KEY_LENGTH_MAX && /^[A-Za-z0-9._-]+$/.test(key)) return key;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 12);
  return `${key.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, KEY_LENGTH_MAX - 13)}-${hash}`;
}

/** Returns a name that the file takes, or the second if there is none. */
export function nameInFile(name: string, otherwise: string): string {
  const shown = name.replaceAll(/\p{Cc}/gu, ' ').trim();
  return (shown === '' ? otherwise : shown).slice(0, NAME_LENGTH_MAX);
}

/** Returns the name, with a number behind it if others have it. */
export function uniqueName(name: string, others: readonly string[]): string {
  const shown = nameInFile(name, 'Layer');
  if (!others.includes(shown)) return shown;
  for (let number = 2; ; number += 1) {
    const numbered = `${shown.slice(0, NAME_LENGTH_MAX - 6)} ${number}`;
    if (!others.includes(numbered)) return numbered;
  }
}

/** Writes an instant as a local date and time if that says the same, else in UTC. */
export function momentInFile(clock: ZoneClock, ms: number): string {
  const wall = clock.wallOf(ms);
  const local = isoOf(wall);
  if (clock.instantOf(wall) !== ms) return isoOf(ms);
  return local.endsWith(':00.000Z') ? local.slice(0, 16) + ':00' : local.replace(/(\.000)?Z$/, '');
}

/** Returns the times of maintenance in UTC, within the years that a file may name, and what they lose; empty: nothing. */
export function maintenanceTimes(
  clock: ZoneClock,
  from: number,
  to: number | null,
): { readonly times: { readonly startsAt: string; readonly endsAt: string }; readonly loss: string } {
  const last = FAR_FUTURE.epochMilliseconds - 1_000;
  const times = {
    startsAt: momentInFile(clock, Math.min(Math.max(from, 0), last - 1_000)),
    endsAt: momentInFile(clock, Math.min(to ?? last, last)),
  };
  return { times, loss: to === null || to > last ? 'It ends with the year 2199, the last that a file may name.' : '' };
}

export function hoursInFile(spans: readonly WeekSpan[]): NonNullable<LayerInFile['hours']> {
  return spans.map(({ from, to }) => {
    const last = Math.ceil(to / DAY_MINUTES);
    return {
      fromDay: Math.floor(from / DAY_MINUTES) + 1,
      from: timeOf(from % DAY_MINUTES),
      toDay: Math.min(last, WEEK_MINUTES / DAY_MINUTES),
      to: timeOf(to - (last - 1) * DAY_MINUTES),
    };
  });
}

function timeOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** Returns a number in E.164 form; null if it is none. A number without a country code needs one. */
export function phoneInFile(address: string, countryCode: string): string | null {
  const digits = address.replaceAll(/[\s().\-/]/g, '');
  if (/^\+[1-9]\d{1,14}$/.test(digits)) return digits;
  const national = digits.replace(/^0+/, '');
  const code = countryCode.replaceAll(/\D/g, '');
  if (code === '' || !/^\d+$/.test(national)) return null;
  const whole = `+${code}${national}`;
  return /^\+[1-9]\d{6,14}$/.test(whole) ? whole : null;
}
