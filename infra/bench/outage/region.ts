import { type Contact } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { asId, type Id } from '#kernel/ids.ts';

import { seeded } from '#infra/bench/seeded.ts';

/** Failure of a region: causes and services. */
export interface RegionSetting {
  readonly organizations: number;
  readonly services: number;
  /** Number of causes. Those beyond the limit of a service join a storm, so somewhat fewer incidents open. */
  readonly causes: number;
  readonly seconds: number;
  /** Organizations of other regions, each with one incident of its own within the same time. */
  readonly bystanders: number;
  readonly seed: number;
}

/** One error that opens an incident or joins a storm. */
export interface Cause {
  readonly second: number;
  readonly organization: number;
  readonly service: number;
}

/** Two people of each team are reached by every channel; the policy pages one after the other. */
export const PEOPLE_PER_TEAM = 2;
const TEAMS_PER_ORGANIZATION = 3;

/** People who are paged for an incident of a service, and their channels. */
export interface Team {
  readonly steps: readonly EscalationStep[];
  readonly contacts: ReadonlyMap<Id<'user'>, Contact>;
  readonly onCall: readonly Id<'user'>[];
}

/** Half of the causes come in the first minute, the rest over the others, as retries run out. */
const FIRST_MINUTE_SHARE = 0.5;
/** An organization's share of the causes: the largest has thousands of times what the smallest has. */
const SKEW = 1.1;

/** The causes of a regional outage in the order in which they come. Some services have many, most have one. */
export function causesOf({
  organizations,
  services,
  causes: wanted,
  seconds,
  bystanders,
  seed,
}: RegionSetting): Cause[] {
  const random = seeded(seed);
  const servicesPerOrganization = Math.floor(services / organizations);
  const weights = Array.from({ length: organizations }, (_, rank) => 1 / (rank + 10) ** SKEW);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const causes: Cause[] = [];
  for (const [organization, weight] of weights.entries()) {
    const teamShare = Math.max(1, Math.round((weight / total) * wanted));
    for (let nth = 0; nth < teamShare && causes.length < wanted; nth += 1) {
      const second = random() < FIRST_MINUTE_SHARE ? random() * 60 : 60 + random() * (seconds - 60);
      // The square prefers the first services, which others depend on.
      const service = organization * servicesPerOrganization + Math.floor(random() ** 2 * servicesPerOrganization);
      causes.push({ second: Math.floor(second), organization, service });
    }
  }
  for (let nth = 0; nth < bystanders; nth += 1) {
    const organization = organizations + nth;
    causes.push({ second: Math.floor(random() * seconds), organization, service: services + nth });
  }
  return causes.sort((a, b) => a.second - b.second);
}

/** Push and SMS at once, a call after five minutes, the second person after fifteen. */
export function teamOf(organization: number, service: number): Team {
  const team = organization * TEAMS_PER_ORGANIZATION + (service % TEAMS_PER_ORGANIZATION);
  const cached = TEAMS.get(team);
  if (cached !== undefined) return cached;
  const [first, second] = [0, 1].map((nth) => asId('user', String(team * PEOPLE_PER_TEAM + nth)));
  if (first === undefined || second === undefined) throw new Error('a team has two people');
  const made: Team = {
    steps: [
      { afterMinutes: 0, channels: ['push', 'sms'], targetUserIds: [], useSchedule: true },
      { afterMinutes: 5, channels: ['call'], targetUserIds: [], useSchedule: true },
      { afterMinutes: 15, channels: ['push', 'sms', 'call'], targetUserIds: [second], useSchedule: false },
    ],
    contacts: new Map([first, second].map((userId) => [userId, contactOf(userId)])),
    onCall: [first],
  };
  TEAMS.set(team, made);
  return made;
}

const TEAMS = new Map<number, Team>();

function contactOf(userId: Id<'user'>): Contact {
  return {
    userId,
    phone: `+1${userId.padStart(10, '0')}`,
    email: null,
    hasPush: true,
    smsEnabled: true,
    callEnabled: true,
    pushEnabled: true,
    emailEnabled: true,
  };
}
