import type { Temporal } from '#kernel/time.ts';
import {
  HISTORY_DAYS,
  type Impact,
  IMPACTS,
  type Stage,
  worstImpact,
} from '#modules/status_pages/decide/publication.ts';

/** An incident as people published it. Nothing else of an incident ever reaches a page. */
export interface PublishedIncident {
  readonly id: string;
  readonly title: string;
  readonly impact: Impact;
  readonly serviceIds: readonly string[];
  readonly beganAt: Temporal.Instant;
  readonly endedAt: Temporal.Instant | null;
  /** Newest first. */
  readonly updates: readonly PublishedUpdate[];
}

export interface PublishedUpdate {
  readonly stage: Stage;
  readonly body: string;
  readonly at: Temporal.Instant;
}

export interface PageComponent {
  readonly serviceId: string;
  readonly groupName: string;
  readonly name: string;
}

/** A page as it was set up, and what was published on it in its history. */
export interface PageContent {
  readonly title: string;
  readonly about: string | null;
  readonly isPublic: boolean;
  /** Services in the order of the page. */
  readonly components: readonly PageComponent[];
  /** Newest first. */
  readonly publications: readonly PublishedIncident[];
}

/** A day of a component's history with trouble, `0` being the oldest of the history. */
interface DayMark {
  readonly day: number;
  readonly impact: Impact;
}

export interface ComponentState {
  readonly name: string;
  /** Null: nothing is known to be wrong with it. */
  readonly impact: Impact | null;
  readonly days: readonly DayMark[];
}

export interface PageState {
  readonly title: string;
  readonly about: string | null;
  readonly isPublic: boolean;
  readonly impact: Impact | null;
  readonly groups: readonly { readonly name: string; readonly components: readonly ComponentState[] }[];
  readonly open: readonly PublishedIncident[];
  readonly past: readonly { readonly day: string; readonly incidents: readonly PublishedIncident[] }[];
  /** Public names of the services that each publication affects, by its id. */
  readonly affected: ReadonlyMap<string, readonly string[]>;
}

/** Returns the first instant of the history of a page, at the start of a day in UTC. */
export function historyStart(now: Temporal.Instant): Temporal.Instant {
  return startOfDay(now).subtract({ hours: 24 * (HISTORY_DAYS - 1) });
}

export function pageStateOf(
  { title, about, isPublic, components, publications }: PageContent,
  now: Temporal.Instant,
): PageState {
  const open = publications.filter(({ endedAt }) => endedAt === null);
  const start = historyStart(now);
  const ended = publications.filter(
    ({ endedAt }) => endedAt !== null && endedAt.epochMilliseconds >= start.epochMilliseconds,
  );
  const states = componentStates(components, publications, now);
  const names = new Map(components.map(({ serviceId, name }) => [serviceId, name]));
  const groups = Map.groupBy(components, ({ groupName }) => groupName);
  return {
    title,
    about,
    isPublic,
    impact: worstImpact(open.map(({ impact }) => impact)),
    groups: [...groups].map(([name, members]) => {
      return { name, components: members.flatMap(({ serviceId }) => states.get(serviceId) ?? []) };
    }),
    open,
    past: [...Map.groupBy(ended, ({ beganAt }) => dayOf(beganAt))].map(([day, incidents]) => ({ day, incidents })),
    affected: new Map(
      publications.map(({ id, serviceIds }) => [id, serviceIds.flatMap((serviceId) => names.get(serviceId) ?? [])]),
    ),
  };
}

/**
 * Returns the state of each component by its service. Each publication adds only where it begins and ends for a service,
 * so that the work follows from the services that are named, and not from their days as well.
 */
function componentStates(
  components: readonly PageComponent[],
  publications: readonly PublishedIncident[],
  now: Temporal.Instant,
): ReadonlyMap<string, ComponentState> {
  const start = historyStart(now);
  const ofServices = new Map(
    components.map(({ serviceId }) => [
      serviceId,
      { open: new Set<Impact>(), changes: IMPACTS.map(() => noChanges()) },
    ]),
  );
  for (const { impact, serviceIds, beganAt, endedAt } of publications) {
    const first = Math.max(0, dayIndex(start, beganAt));
    const last = Math.min(dayIndex(start, endedAt ?? now), HISTORY_DAYS - 1);
    for (const serviceId of new Set(serviceIds)) {
      const service = ofServices.get(serviceId);
      if (service === undefined) continue;
      if (endedAt === null) service.open.add(impact);
      const changes = service.changes[IMPACTS.indexOf(impact)];
      if (changes === undefined || first > last) continue;
      changes[first] = (changes[first] ?? 0) + 1;
      changes[last + 1] = (changes[last + 1] ?? 0) - 1;
    }
  }
  return new Map(
    components.map(({ serviceId, name }) => {
      const { open, changes } = ofServices.get(serviceId) ?? { open: new Set<Impact>(), changes: [] };
      return [serviceId, { name, impact: worstImpact([...open]), days: daysOf(changes) }];
    }),
  );
}

/** Changes of the number of publications on each day of the history, and on the day after it. */
function noChanges(): number[] {
  return Array.from({ length: HISTORY_DAYS + 1 }, () => 0);
}

/** Returns the days with trouble, with the worst impact of each; `changes` are those of each impact, mildest first. */
function daysOf(changes: readonly (readonly number[])[]): DayMark[] {
  const counts = changes.map(() => 0);
  return Array.from({ length: HISTORY_DAYS }, (_, day) => {
    for (const [index, ofImpact] of changes.entries()) counts[index] = (counts[index] ?? 0) + (ofImpact[day] ?? 0);
    return { day, impact: IMPACTS[counts.findLastIndex((count) => count > 0)] };
  }).flatMap(({ day, impact }) => (impact === undefined ? [] : [{ day, impact }]));
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function dayIndex(start: Temporal.Instant, at: Temporal.Instant): number {
  return Math.floor((at.epochMilliseconds - start.epochMilliseconds) / DAY_MS);
}

function startOfDay(at: Temporal.Instant): Temporal.Instant {
  return at.toZonedDateTimeISO('UTC').startOfDay().toInstant();
}

function dayOf(at: Temporal.Instant): string {
  return at.toZonedDateTimeISO('UTC').toPlainDate().toString();
}
